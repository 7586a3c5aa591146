package org.gramian.cli.command;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;
import org.gramian.basis.NearestWord;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.InputOptions.WeightsFolder;
import org.gramian.cli.common.OnnxImport;
import org.gramian.pooling.Aggregation;
import org.gramian.pooling.Methods;
import org.gramian.pooling.Methods.Method;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.PoolingStage;
import org.gramian.report.Figures;
import org.gramian.tensor.Shape;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian methods}: the methods that have a name, or all about one. */
@Command(name = "methods", header = "List pooling methods with formula and reference.", description = """
                Without NAME: all methods by family, with descriptor size and number of parameters on a backbone.
                With NAME: formula, reference and the stages of one method. Needs neither weights nor libtorch.
                Use one by its name: 'gramian train DIR --pooling NAME'.""")
public final class MethodsCommand extends ConsoleCommand {
    /** Word of a pooling's text: not an argument after a colon, a comma or an equals sign. */
    private static final Pattern WORD = Pattern.compile("(?<![a-z0-9.=:,-])[a-z][a-z0-9-]*");

    /** Training images, on whose number some sizes depend. */
    private static final int IMAGES = 1000;

    private static final String ROW = "%-20s %-36s %11s %11s  %-10s %s%n";

    @Mixin
    private final WeightsFolder weights = new WeightsFolder();

    @Option(
            names = "--backbone",
            paramLabel = "NAME",
            defaultValue = "vgg16",
            description = "backbone for the sizes, or FILE.onnx (default: ${DEFAULT-VALUE}, as in the paper)")
    private String network;

    @Option(names = "--layer", paramLabel = "LAYER", description = "layer (default: the backbone's default layer)")
    private @Nullable String layer;

    @Parameters(arity = "0..1", paramLabel = "NAME", description = "a method, e.g. bcnn")
    private @Nullable String name;

    @Override
    public Integer call() throws IOException {
        Backbone whole = OnnxImport.backbone(network, weights.store());
        Backbone backbone = layer == null ? whole : whole.cutAt(layer);
        if (name == null) {
            printAll(backbone);
        } else {
            String typed = name.strip().toLowerCase(Locale.ROOT);
            printOne(
                    Methods.find(typed)
                            .orElseThrow(() -> new IllegalArgumentException("expected a method, found '" + typed + "'"
                                    + NearestWord.suggestion(typed, Methods.names())
                                    + "; 'gramian methods' lists all")),
                    backbone);
        }
        return ExitCode.DONE;
    }

    private static String context(Backbone backbone) {
        int side = backbone.about().size();
        Shape features = backbone.features(side, side);
        return "on " + backbone.name() + " at " + backbone.layer() + " (" + features.at(0) + " channels, "
                + features.at(1)
                + "×" + features.at(2) + " positions of images of " + side + "×" + side + "), " + IMAGES
                + " training images";
    }

    /** Prints one line for each method, by family. */
    private void printAll(Backbone backbone) {
        PrintWriter out = console.out();
        out.printf(ROW, "name", "title", "descriptor", "parameters", "classifier", "pooling");
        for (Method.Family family : Method.Family.values()) {
            out.printf("%n%s%n", family.text());
            for (Method method : Methods.all()) {
                if (method.family() == family) {
                    String descriptor = "-";
                    String parameters = "-";
                    String pooling = method.pooling();
                    try {
                        Sizes sizes = Sizes.of(method, backbone);
                        descriptor = Figures.count(sizes.descriptor);
                        parameters = Figures.count(sizes.trained + sizes.fitted);
                    } catch (IllegalArgumentException unfit) {
                        pooling += "  does not fit: " + unfit.getMessage();
                    }
                    out.printf(
                            ROW, method.name(), method.title(), descriptor, parameters, method.classifier(), pooling);
                }
            }
        }
        out.printf(
                "%nSizes %s;%nchange them with --backbone and --layer. Parameters are those of the pooling, without"
                        + " backbone and classifier.%n'gramian methods NAME' shows one in full.%n",
                context(backbone));
    }

    private void printOne(Method method, Backbone backbone) {
        line(method.name(), method.title());
        line("family", method.family().text());
        line("formula", method.formula());
        line("reference", method.reference());
        line("pooling", method.pooling());
        line("classifier", method.classifier());
        line("", "");
        try {
            Sizes sizes = Sizes.of(method, backbone);
            if (!method.pooling().equals(sizes.resolved)) {
                line("resolved", sizes.resolved);
            }
            line("descriptor", Figures.count(sizes.descriptor) + " values");
            line(
                    "parameters",
                    Figures.count(sizes.trained) + " trained, " + Figures.count(sizes.fitted) + " fitted to data");
        } catch (IllegalArgumentException unfit) {
            line("does not fit", String.valueOf(unfit.getMessage()));
        }
        line("", context(backbone));
        line("", "");
        WORD.matcher(method.pooling())
                .results()
                .map(MatchResult::group)
                .distinct()
                .flatMap(word ->
                        PoolingStage.all().stream().filter(stage -> stage.name().equals(word)))
                .forEach(stage -> {
                    line(stage.name(), stage.meaning());
                    if (!stage.form().equals(stage.name())) {
                        line("", "  syntax: " + stage.form());
                    }
                });
    }

    private void line(String label, String text) {
        console.out().println("%-12s %s".formatted(label, text).stripTrailing());
    }

    /** Sizes of a method on a backbone: length of its descriptor, numbers of trained and fitted parameters. */
    private record Sizes(String resolved, long descriptor, long trained, long fitted) {
        /** @throws IllegalArgumentException if the method does not fit the backbone */
        static Sizes of(Method method, Backbone backbone) {
            Pooling pooling = Pooling.parse(method.pooling()).resolve(backbone, IMAGES);
            requirePositions(pooling.aggregation(), backbone);
            List<ParameterSpec> parameters = pooling.parameters(backbone.channels());
            return new Sizes(
                    pooling.text(),
                    pooling.descriptorSize(backbone.channels()),
                    count(parameters, false),
                    count(parameters, true));
        }

        private static void requirePositions(Aggregation aggregation, Backbone backbone) {
            int side = backbone.about().size();
            Shape features = backbone.features(side, side);
            if (Math.min(features.at(1), features.at(2)) < aggregation.leastSide()) {
                int least = aggregation.leastSide();
                throw new IllegalArgumentException(aggregation.text() + " needs maps of at least " + least + "×" + least
                        + " positions; " + backbone + " gives " + features.at(1) + "×" + features.at(2)
                        + " of images of "
                        + side + "×" + side);
            }
        }

        private static long count(List<ParameterSpec> parameters, boolean fitted) {
            return parameters.stream()
                    .filter(spec -> fitted == (spec.role() == ParameterSpec.Role.FITTED))
                    .mapToLong(spec -> spec.shape().elements())
                    .sum();
        }
    }
}
