package org.gramian.cli.command;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.JsonText;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.EngineOptions;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.Progress;
import org.gramian.cli.common.Version;
import org.gramian.export.OpenModel;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ImageSource;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;
import org.gramian.model.InferencePipeline;
import org.gramian.model.ModelHeader;
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
        DescriptorFile.Format format = DescriptorFile.Format.of(out);
        Path file = engine.model();
        AtomicFile.require("OUT", out, List.of(file, images));
        ModelHeader header = OpenModel.header(file);
        Dataset dataset = layout == null
                ? Layouts.openImages(images)
                : Layouts.parse(layout).read(images);
        dataset.notes().forEach(note -> console.say(note.text()));
        long cropRows = crops == CropRows.EACH ? header.card().crops().testing().count() : 1;
        long count = Math.multiplyExact(cropRows, dataset.samples().size());
        DescriptorFile.requireSpace(out, format, count, header.descriptorSize());
        int length = Math.toIntExact(header.descriptorSize());
        try (OpenModel model = engine.open(file);
                DescriptorFile rows = new DescriptorFile(out, format, length)) {
            Map<String, String> unreadable = embed(model, dataset.samples(), rows);
            unreadable.forEach((name, reason) -> console.warn("skipping " + name + ": " + reason));
            if (rows.count() == 0) {
                console.say("no image could be read: " + out + " was not written");
                return ExitCode.DATA;
            }
            rows.write(dataset.classes(), crops == CropRows.EACH, unreadable, metadata(header, dataset));
            console.out().printf("%s: %d descriptors of length %d%n", out, rows.count(), length);
            return unreadable.isEmpty() ? ExitCode.DONE : ExitCode.DATA;
        }
    }

    /** Returns the unreadable images with the reasons. */
    private Map<String, String> embed(OpenModel model, List<Sample> samples, DescriptorFile file) {
        Classifier classifier =
                model.classifier().withCrops(model.card().crops()).withBatch(InferencePipeline.DEFAULT_BATCH);
        ImageReader reader = new ImageReader(ImageLimits.DEFAULT);
        List<ImageSource> sources = samples.stream()
                .map(sample -> ImageSource.of(sample, reader::read))
                .toList();
        Map<String, String> unreadable = new LinkedHashMap<>();
        try (Progress progress = console.progress("descriptors", samples.size())) {
            classifier.run(sources, Set.of(Engine.Rows.DESCRIPTORS), (index, result) -> {
                Sample sample = samples.get(index);
                switch (result) {
                    case ImageResult.Computed computed -> write(sample, computed, file);
                    case ImageResult.Failed failed ->
                        unreadable.put(sample.name(), failed.unreadable().reason());
                }
                progress.accept(index + 1L);
            });
        }
        return unreadable;
    }

    private void write(Sample sample, ImageResult.Computed computed, DescriptorFile file) {
        float[][] kept =
                crops == CropRows.MEAN ? new float[][] {computed.descriptor()} : computed.of(Engine.Rows.DESCRIPTORS);
        try {
            for (float[] row : kept) {
                file.add(sample, row);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
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
