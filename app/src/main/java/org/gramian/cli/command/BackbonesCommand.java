package org.gramian.cli.command;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.BackboneInfo;
import org.gramian.backbone.Backbones;
import org.gramian.backbone.weights.WeightName;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.basis.JsonText;
import org.gramian.cli.common.Console;
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
@Command(
        name = "backbones",
        mixinStandardHelpOptions = true,
        header = "List backbones and their layers.",
        description = """
                Without NAME: all backbones with default layer, shape of its feature maps, number of parameters up to it and
                in total, source and licence of the weights.
                With NAME, of a backbone or of an ONNX file: its layers, each with the shape of its output and the parameters
                up to it. Every layer can be the feature layer.""")
public final class BackbonesCommand implements Callable<Integer> {
    @Mixin
    private final Console console = new Console();

    @Option(
            names = "--size",
            paramLabel = "N",
            defaultValue = "224",
            description = "image size in pixels (default: ${DEFAULT-VALUE})")
    private int size;

    @Option(names = "--json", description = "print JSON")
    private boolean json;

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
            List<BackboneRow> rows = backbones().stream()
                    .map(backbone -> BackboneRow.of(backbone, size, List.of()))
                    .toList();
            print(rows, () -> printAll(rows));
        } else {
            Backbone backbone = OnnxImport.backbone(name, weights.store());
            BackboneRow row = BackboneRow.of(backbone, size, BackboneRow.layers(backbone, size));
            print(row, () -> printOne(row));
        }
        return ExitCode.DONE;
    }

    private void print(Object content, Runnable text) {
        if (json) {
            console.out().println(JsonText.indented(content));
        } else {
            text.run();
        }
    }

    /** Returns the built-in backbones and the installed ones. */
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

    private void printAll(List<BackboneRow> rows) {
        PrintWriter out = console.out();
        out.printf("%-22s %-18s %-16s %13s %13s%n", "name", "layer", "features at " + size, "parameters", "total");
        for (BackboneRow row : rows) {
            out.printf(
                    Locale.ROOT,
                    "%-22s %-18s %-16s %,13d %,13d%n",
                    row.name(),
                    row.defaultLayer(),
                    shape(row.features()),
                    row.parameters(),
                    row.parametersInAll());
        }
        out.printf("%nweights%n");
        rows.forEach(row -> printWeights(out, row.name(), row.weights()));
    }

    private static void printWeights(PrintWriter out, String label, BackboneInfo.Weights weights) {
        out.printf("%-22s %s%n%-22s %s%n", label, weights.source(), "", weights.licence());
    }

    private void printOne(BackboneRow row) {
        PrintWriter out = console.out();
        Preprocessing preprocessing = row.preprocessing();
        out.printf("%-22s %s%n%-22s %s%n", row.name(), row.title(), "", row.citation());
        printWeights(out, "weights", row.weights());
        out.printf(
                "%-22s %s of %d×%d, (byte - %s) / %s%n%n",
                "images",
                preprocessing.order(),
                row.trainedAt(),
                row.trainedAt(),
                preprocessing.mean(),
                preprocessing.std());
        out.printf("%-22s %-16s %13s%n", "layer", "output at " + size, "parameters");
        List<String> defaults = List.of(row.defaultLayer().split("\\+", -1));
        for (BackboneRow.Layer layer : row.layers()) {
            out.printf(
                    Locale.ROOT,
                    "%-22s %-16s %,13d%s%n",
                    layer.name(),
                    shape(layer.output()),
                    layer.parameters(),
                    defaults.contains(layer.name()) ? "  (default)" : "");
        }
    }

    private static String shape(List<Long> sizes) {
        return sizes.isEmpty()
                ? "does not fit"
                : sizes.stream().map(String::valueOf).collect(Collectors.joining("×"));
    }

    /** Description of a backbone, as text and as JSON. */
    record BackboneRow(
            String name,
            String title,
            String citation,
            int trainedAt,
            String defaultLayer,
            List<Long> features,
            long parameters,
            long parametersInAll,
            Preprocessing preprocessing,
            BackboneInfo.Weights weights,
            @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Layer> layers) {

        /** A layer, the shape of its output, and the parameters up to it. */
        record Layer(String name, List<Long> output, long parameters) {}

        static List<Layer> layers(Backbone backbone, int size) {
            List<Layer> layers = new ArrayList<>();
            for (String layer : backbone.layers()) {
                Backbone cut = backbone.cutAt(layer);
                layers.add(new Layer(layer, output(cut, size), cut.parameterCount()));
            }
            return layers;
        }

        static BackboneRow of(Backbone backbone, int size, List<Layer> layers) {
            BackboneInfo about = backbone.about();
            return new BackboneRow(
                    backbone.name(),
                    about.title(),
                    about.citation(),
                    about.size(),
                    backbone.defaultLayer(),
                    output(backbone, size),
                    backbone.parameterCount(),
                    backbone.cutAt(backbone.layers().getLast()).parameterCount(),
                    about.preprocessing(),
                    about.weights(),
                    layers);
        }

        private static List<Long> output(Backbone backbone, int size) {
            return backbone.fits(size, size)
                    ? LongStream.of(backbone.features(size, size).sizes())
                            .boxed()
                            .toList()
                    : List.of();
        }
    }
}
