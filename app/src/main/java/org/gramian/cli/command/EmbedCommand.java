package org.gramian.cli.command;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.JsonText;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.EngineOptions;
import org.gramian.cli.common.Progress;
import org.gramian.cli.common.Version;
import org.gramian.export.OpenModel;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageSource;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;
import org.gramian.model.InferencePipeline;
import org.gramian.model.ModelHeader;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian embed}: writes descriptors of a folder of images, for search, clustering or another classifier. */
@Command(name = "embed", header = "Write descriptors (embeddings) of images.", description = """
                Computes the output of the model's pooling, for search, clustering or another classifier.
                The extension of OUT selects the format: .csv and .parquet have a row per image with its name and
                class; .safetensors has
                'descriptors' [rows, d], 'labels' [rows] and 'image' [rows], an index into the metadata 'names', with 'classes'
                and 'unreadable', each as JSON.
                Unreadable images are skipped and listed; the exit code is then 3.""")
public final class EmbedCommand extends ConsoleCommand {
    enum CropRows {
        MEAN,
        EACH
    }

    @Option(
            names = "--crops",
            paramLabel = "ROWS",
            defaultValue = "mean",
            description = "mean: a row per image, the mean of its crops; each: a row per crop"
                    + " (default: ${DEFAULT-VALUE})")
    private CropRows crops;

    @Option(
            names = "--layout",
            paramLabel = "LAYOUT",
            description = "directory layout of DIR, e.g. folders, csv or flat (default: detected; flat if there are no"
                    + " classes)")
    private @Nullable String layout;

    @Mixin
    private final EngineOptions engine = new EngineOptions();

    @Parameters(
            index = "1",
            paramLabel = "DIR|IMAGE",
            description = "a folder of images, with or without classes, a CSV file that lists them, or an image")
    private Path images;

    @Parameters(index = "2", paramLabel = "OUT", description = "a .csv, .parquet or .safetensors file")
    private Path out;

    @Override
    public Integer call() throws IOException {
        FeatureOutput.Format form = FeatureOutput.Format.of(out);
        Path file = engine.model();
        AtomicFile.require("OUT", out, List.of(file, images));
        ModelHeader header = OpenModel.header(file);
        Dataset dataset = layout == null
                ? Layouts.openImages(images)
                : Layouts.parse(layout).read(images);
        dataset.notes().forEach(note -> console.say(note.text()));
        FeatureOutput.requireSpace(out, bytes(header, dataset, form));
        try (OpenModel model = engine.open(file);
                FeatureOutput rows = new FeatureOutput(out, "descriptors", dataset.samples())) {
            Classifier classifier =
                    model.classifier().withCrops(model.card().crops()).withBatch(InferencePipeline.DEFAULT_BATCH);
            embed(classifier, dataset.samples(), rows);
            return rows.finish(
                    console,
                    "descriptors of length " + header.descriptorSize(),
                    () -> write(rows, header, dataset, form));
        }
    }

    private void embed(Classifier classifier, List<Sample> samples, FeatureOutput file) {
        ImageReader reader = new ImageReader(ImageLimits.DEFAULT);
        List<ImageSource> sources = samples.stream()
                .map(sample -> ImageSource.of(sample, reader::read))
                .toList();
        try (Progress progress = console.progress("descriptors", samples.size())) {
            classifier.run(sources, Set.of(Engine.Rows.DESCRIPTORS), (index, result) -> {
                switch (result) {
                    case ImageResult.Computed computed -> write(index, computed, file);
                    case ImageResult.Failed failed -> file.unreadable(index, failed.unreadable());
                }
                progress.accept(index + 1L);
            });
        }
    }

    private void write(int index, ImageResult.Computed computed, FeatureOutput file) {
        float[][] kept =
                crops == CropRows.MEAN ? new float[][] {computed.descriptor()} : computed.of(Engine.Rows.DESCRIPTORS);
        try {
            for (float[] row : kept) {
                file.feature(index, bytes(row));
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static MemorySegment bytes(float[] row) {
        ByteBuffer bytes = ByteBuffer.allocate(Float.BYTES * row.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(row);
        return MemorySegment.ofArray(bytes.array());
    }

    private long bytes(ModelHeader header, Dataset dataset, FeatureOutput.Format form) {
        long each = crops == CropRows.EACH ? header.card().crops().testing().count() : 1;
        long rows = Math.multiplyExact(each, dataset.samples().size());
        return Math.multiplyExact(rows, Math.multiplyExact(header.descriptorSize(), form.bytesPerValue()));
    }

    private void write(FeatureOutput rows, ModelHeader header, Dataset dataset, FeatureOutput.Format form)
            throws IOException {
        Map<String, String> metadata = metadata(header, dataset);
        if (form == FeatureOutput.Format.SAFETENSORS) {
            rows.write(Shape.of(header.descriptorSize()), DType.F32, metadata);
        } else {
            int length = Math.toIntExact(header.descriptorSize());
            rows.writeTable(form, length, dataset.classes(), crops == CropRows.EACH, metadata);
        }
    }

    private static Map<String, String> metadata(ModelHeader header, Dataset dataset) {
        Map<String, String> metadata = new LinkedHashMap<>();
        metadata.put("gramian", Version.number());
        metadata.put("backbone", header.backbone().name());
        metadata.put("layer", header.backbone().layer());
        metadata.put("pooling", header.head().pooling().text());
        metadata.put("preprocessing", header.card().preprocessing().text());
        metadata.put("crops", header.card().crops().text());
        metadata.put("classes", JsonText.of(dataset.classes()));
        return metadata;
    }
}
