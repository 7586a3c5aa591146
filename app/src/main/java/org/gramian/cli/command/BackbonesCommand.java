package org.gramian.cli.command;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.BackboneInfo;
import org.gramian.backbone.Backbones;
import org.gramian.backbone.weights.WeightName;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.InputOptions.WeightsFolder;
import org.gramian.cli.common.OnnxImport;
import org.gramian.image.crop.Preprocessing;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian backbones}: the networks that there are, or the layers of one. */
@Command(name = "backbones", header = "List backbones and their layers.", description = """
                Without NAME: all backbones with default layer, shape of its feature maps, number of parameters up to it and
                in total, source and licence of the weights.
                With NAME, of a backbone or of an ONNX file: its layers, each with the shape of its output and the parameters
                up to it. Every layer can be the feature layer.""")
public final class BackbonesCommand extends ConsoleCommand {
    /** Each takes time in proportion to the number of layers. */
    private static final int MAX_LAYERS = 1_000;

    @Option(
            names = "--size",
            paramLabel = "N",
            defaultValue = "224",
            description = "image size in pixels (default: ${DEFAULT-VALUE})")
    private int size;

    @Mixin
    private final WeightsFolder weights = new WeightsFolder();

    @Parameters(arity = "0..1", paramLabel = "NAME", description = "a backbone, e.g. vgg16, or FILE.onnx")
    private @Nullable String name;

    @Override
    public Integer call() throws IOException {
        if (size < 1) {
            throw new IllegalArgumentException("--size: expected at least 1, found " + size);
        }
        if (name == null) {
            printAll(backbones());
        } else {
            printOne(OnnxImport.backbone(name, weights.store()));
        }
        return ExitCode.DONE;
    }

    private List<Backbone> backbones() throws IOException {
        List<Backbone> all = new ArrayList<>(Backbones.all());
        WeightStore store = weights.store();
        for (WeightName installed : store.names()) {
            if (!Backbones.names().contains(installed.architecture())) {
                all.add(store.backbone(installed));
            }
        }
        return all;
    }

    private void printAll(List<Backbone> backbones) {
        PrintWriter out = console.out();
        out.printf("%-22s %-18s %-16s %13s %13s%n", "name", "layer", "features at " + size, "parameters", "total");
        for (Backbone backbone : backbones) {
            out.printf(
                    Locale.ROOT,
                    "%-22s %-18s %-16s %,13d %,13d%n",
                    backbone.name(),
                    backbone.defaultLayer(),
                    shape(backbone),
                    backbone.parameterCount(),
                    backbone.cutAt(backbone.layers().getLast()).parameterCount());
        }
        out.printf("%nweights%n");
        backbones.forEach(
                backbone -> printWeights(out, backbone.name(), backbone.about().weights()));
    }

    private static void printWeights(PrintWriter out, String label, BackboneInfo.Weights weights) {
        out.printf("%-22s %s%n%-22s %s%n", label, weights.source(), "", weights.licence());
    }

    private void printOne(Backbone backbone) {
        PrintWriter out = console.out();
        BackboneInfo about = backbone.about();
        Preprocessing preprocessing = about.preprocessing();
        out.printf("%-22s %s%n%-22s %s%n", backbone.name(), about.title(), "", about.citation());
        printWeights(out, "weights", about.weights());
        out.printf(
                "%-22s %s of %d×%d, (byte - %s) / %s%n%n",
                "images", preprocessing.order(), about.size(), about.size(), preprocessing.mean(), preprocessing.std());
        out.printf("%-22s %-16s %13s%n", "layer", "output at " + size, "parameters");
        List<String> defaults = List.of(backbone.defaultLayer().split("\\+", -1));
        List<String> layers = backbone.layers();
        for (String layer : layers.subList(0, Math.min(layers.size(), MAX_LAYERS))) {
            Backbone cut = backbone.cutAt(layer);
            String mark = defaults.contains(layer) ? "  (default)" : "";
            out.printf(Locale.ROOT, "%-22s %-16s %,13d%s%n", layer, shape(cut), cut.parameterCount(), mark);
        }
        if (layers.size() > MAX_LAYERS) {
            out.printf(Locale.ROOT, "and %,d more, the last: %s%n", layers.size() - MAX_LAYERS, layers.getLast());
        }
    }

    private String shape(Backbone backbone) {
        return backbone.fits(size, size)
                ? LongStream.of(backbone.features(size, size).sizes())
                        .mapToObj(Long::toString)
                        .collect(Collectors.joining("×"))
                : "does not fit";
    }
}
