package org.gramian.cli.command;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import org.gramian.backbone.Backbone;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.ByteSize;
import org.gramian.basis.JsonText;
import org.gramian.cli.common.CacheOptions;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.InputOptions;
import org.gramian.cli.common.OnnxImport;
import org.gramian.cli.common.Progress;
import org.gramian.cli.common.TorchOptions;
import org.gramian.cli.common.Version;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.run.InitialModel;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.train.feature.FeatureCache;
import org.gramian.train.feature.FeatureExtraction;
import org.gramian.train.feature.FeatureExtractor;
import org.gramian.train.feature.FeatureTable;
import org.gramian.train.feature.FrozenBackbone;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian features}: feature maps of a folder of images, for people who go on elsewhere. */
@Command(name = "features", header = "Extract and cache feature maps of images.", description = """
                Computes feature maps of all images of a dataset, for use in other programs.
                OUT gets 'features' [rows, channels, height, width], 'labels' [rows] and 'image' [rows], an index into the
                metadata 'names'; 'classes', 'crops' and 'unreadable' are metadata as JSON. Each crop of each image is a row.
                Unreadable images are skipped and listed; the exit code is then 3.""")
public final class FeaturesCommand extends ConsoleCommand {
    @Mixin
    private final InputOptions network = new InputOptions();

    @Option(
            names = "--backbone",
            required = true,
            paramLabel = "NAME",
            description = "backbone, e.g. googlenet, gramian-s or filters, which need no download, or FILE.onnx")
    private String name;

    @Option(names = "--layer", paramLabel = "LAYER", description = "layer, or two as a+b (default: the backbone's)")
    private @Nullable String layer;

    @Option(
            names = "--weights",
            paramLabel = "FILE",
            description = "pretrained weights: a file, or a name of 'gramian weights list' (default: the backbone's)")
    private @Nullable String weights;

    @Option(
            names = "--crops",
            paramLabel = "PLAN",
            defaultValue = "center",
            description = "crops: center, resize, paper or ten, optionally :SIZE (default: 224) and +flips"
                    + " (default: ${DEFAULT-VALUE})")
    private String plan;

    @Option(
            names = "--dtype",
            paramLabel = "TYPE",
            defaultValue = "f32",
            description = "precision: f32 or f16 (default: ${DEFAULT-VALUE})")
    private DType precision;

    @Option(
            names = {"--batch", "--batch-size"},
            paramLabel = "N",
            defaultValue = "" + FeatureExtractor.DEFAULT_BATCH,
            description = "batch size (default: ${DEFAULT-VALUE})")
    private int batch;

    @Option(names = "--layout", paramLabel = "LAYOUT", description = "layout, e.g. csv or fmd (default: detected)")
    private @Nullable String layout;

    @Mixin
    private final CacheOptions caching = new CacheOptions();

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    @Parameters(index = "0", paramLabel = "DIR", description = "folder of images, or a CSV file of path,label[,fold]")
    private Path folder;

    @Parameters(index = "1", paramLabel = "OUT", description = "a .safetensors file")
    private Path out;

    @Override
    public Integer call() throws IOException {
        if (precision != DType.F32 && precision != DType.F16) {
            throw new IllegalArgumentException("--dtype: expected f32 or f16, found " + precision);
        }
        CropPlan parsed = CropPlan.parse(plan);
        Crops crops = parsed.testing();
        backbone().features(crops.size(), crops.size());
        caching.check();
        if (!out.toString().endsWith(".safetensors")) {
            throw new IllegalArgumentException("OUT must end with .safetensors, found " + out);
        }
        AtomicFile.require("OUT", out, List.of());
        Dataset dataset = Layouts.open(folder, Optional.ofNullable(layout));
        dataset.notes().forEach(note -> console.say(note.text()));
        Device device = torch.prepare();
        try (FrozenBackbone frozen = open(device)) {
            FeatureExtractor extractor = new FeatureExtractor(frozen, batch, precision);
            Path beside = Objects.requireNonNull(out.toAbsolutePath().getParent(), "a file has a folder");
            try (FeatureCache cache = FeatureCache.open(caching.root(), beside, console::say)) {
                return extract(new FeatureExtraction(extractor, Optional.of(cache)), cache, dataset, crops);
            }
        }
    }

    private int extract(FeatureExtraction extraction, FeatureCache cache, Dataset dataset, Crops crops)
            throws IOException {
        List<Sample> samples = dataset.samples();
        FeatureExtractor extractor = extraction.extractor();
        long rows = (long) samples.size() * crops.count();
        long bytes = Math.multiplyExact(rows, extractor.bytes(crops));
        console.say("%d features %s%s, %s in total; feature cache: %s"
                .formatted(rows, precision, extractor.shape(crops), ByteSize.text(bytes), cache.folder()));
        FeatureOutput.requireSpace(out, bytes);
        try (FeatureOutput file = new FeatureOutput(out, "features", samples);
                FeatureTable table = table(extraction, samples, crops)) {
            for (int i = 0; i < samples.size(); i++) {
                if (table.problems().containsKey(i)) {
                    file.unreadable(i, table.problems().get(i));
                } else {
                    for (int crop = 0; crop < crops.count(); crop++) {
                        file.feature(i, table.feature(i, crop));
                    }
                }
            }
            Shape shape = extractor.shape(crops);
            return file.finish(
                    console,
                    "features " + precision + shape,
                    () -> file.write(shape, precision, about(extractor, dataset, crops)));
        }
    }

    private FeatureTable table(FeatureExtraction extraction, List<Sample> samples, Crops crops) throws IOException {
        try (Progress progress = console.progress("features", samples.size())) {
            int threads = Runtime.getRuntime().availableProcessors();
            return extraction.table("features", samples, crops, threads, task -> {
                if (task.name().equals("features")) { // not the hashing of the files before
                    progress.accept(task.done());
                }
            });
        }
    }

    private Map<String, String> about(FeatureExtractor extractor, Dataset dataset, Crops crops) {
        Map<String, String> about = new LinkedHashMap<>();
        about.put("gramian", Version.number());
        about.put("backbone", extractor.network().backbone().name());
        about.put("layer", extractor.network().backbone().layer());
        about.put("weights", extractor.network().fingerprint());
        about.put("preprocessing", extractor.network().preprocessing().text());
        about.put("recipe", extractor.fingerprint());
        about.put("classes", JsonText.of(dataset.classes()));
        about.put(
                "crops",
                JsonText.of(
                        IntStream.range(0, crops.count()).mapToObj(crops::label).toList()));
        about.put("size", Integer.toString(crops.size()));
        return about;
    }

    /** The network alone, to find mistakes before anything is loaded. */
    private Backbone backbone() throws IOException {
        return cut(OnnxImport.backbone(name, network.store()));
    }

    private Backbone cut(Backbone whole) {
        return layer == null ? whole : whole.cutAt(layer);
    }

    /** The network with its weights. */
    private FrozenBackbone open(Device device) throws IOException {
        String resolved = network.resolve(name, console::say);
        Backbone backbone = cut(network.store().backbone(resolved));
        boolean needed = backbone.about().weights().needed();
        if (!needed && weights != null) {
            throw new IllegalArgumentException("the backbone '" + name + "' needs no weights: remove --weights");
        }
        Optional<String> found = needed ? Optional.of(weights == null ? resolved : weights) : Optional.empty();
        return InitialModel.network(backbone, found, false, network.store(), device, console::say);
    }
}
