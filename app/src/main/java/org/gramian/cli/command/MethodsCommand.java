package org.gramian.cli.command;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;
import org.gramian.basis.JsonText;
import org.gramian.basis.NearestWord;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.InputOptions.WeightsFolder;
import org.gramian.cli.common.OnnxImport;
import org.gramian.pooling.Aggregation;
import org.gramian.pooling.Method;
import org.gramian.pooling.Methods;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.PoolingStage;
import org.gramian.tensor.Shape;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian methods}: the methods that have a name, or all about one. */
@Command(
        name = "methods",
        mixinStandardHelpOptions = true,
        header = "List pooling methods with formula and reference.",
        description = """
                Without NAME: all methods by family, with descriptor size and number of parameters on a backbone.
                With NAME: formula, reference and the stages of one method. Needs neither weights nor libtorch.
                Use one by its name: 'gramian train DIR --pooling NAME'.""")
public final class MethodsCommand implements Callable<Integer> {
    /** Word of a pooling's text: not an argument after a colon, a comma or an equals sign. */
    private static final Pattern WORD = Pattern.compile("(?<![a-z0-9.=:,-])[a-z][a-z0-9-]*");

    /** Output formats. */
    enum Format {
        TABLE,
        JSON
    }

    private static final String ROW = "%-20s %-36s %11s %11s  %-10s %s%n";

    @Mixin
    private final Console console = new Console();

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

    @Option(
            names = "--images",
            paramLabel = "N",
            defaultValue = "1000",
            description = "training images, for sizes that depend on them (default: ${DEFAULT-VALUE})")
    private int images;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            defaultValue = "table",
            description = "output format: table or json (default: ${DEFAULT-VALUE})")
    private Format format;

    @Parameters(arity = "0..1", paramLabel = "NAME", description = "a method, e.g. bcnn")
    private @Nullable String name;

    @Override
    public Integer call() throws IOException {
        if (images < 1) {
            throw new IllegalArgumentException("--images: expected at least 1, found " + images);
        }
        Backbone whole = OnnxImport.backbone(network, weights.store());
        Backbone backbone = layer == null ? whole : whole.cutAt(layer);
        List<Method> chosen =
                name == null ? Methods.all() : List.of(find(name.strip().toLowerCase(Locale.ROOT)));
        List<MethodRow> rows = chosen.stream()
                .map(method -> MethodRow.of(method, backbone, images))
                .toList();
        if (format == Format.JSON) {
            console.out().println(JsonText.indented(name == null ? rows : rows.getFirst()));
        } else if (name == null) {
            printAll(rows, backbone);
        } else {
            printOne(rows.getFirst(), backbone);
        }
        return ExitCode.DONE;
    }

    private static Method find(String name) {
        return Methods.find(name)
                .orElseThrow(() -> new IllegalArgumentException("expected a method, found '" + name + "'"
                        + NearestWord.suggestion(name, Methods.names()) + "; 'gramian methods' lists all"));
    }

    private String context(Backbone backbone) {
        int side = backbone.about().size();
        Shape features = backbone.features(side, side);
        return "on %s at %s (%d channels, %d×%d positions of images of %d×%d), %d training image%s"
                .formatted(
                        backbone.name(),
                        backbone.layer(),
                        features.at(0),
                        features.at(1),
                        features.at(2),
                        side,
                        side,
                        images,
                        images == 1 ? "" : "s");
    }

    /** Prints one line for each method, by family. */
    private void printAll(List<MethodRow> rows, Backbone backbone) {
        PrintWriter out = console.out();
        out.printf(ROW, "name", "title", "descriptor", "parameters", "classifier", "pooling");
        for (Method.Family family : Method.Family.values()) {
            out.printf("%n%s%n", family.text());
            rows.stream()
                    .filter(row -> row.family.equals(family.text()))
                    .forEach(row -> out.printf(
                            ROW,
                            row.name,
                            row.title,
                            number(row.descriptor),
                            row.trained == null || row.fitted == null ? "-" : number(row.trained + row.fitted),
                            row.classifier,
                            row.incompatibility == null
                                    ? row.pooling
                                    : row.pooling + "  does not fit: " + row.incompatibility));
        }
        out.printf(
                "%nSizes %s;%nchange them with --backbone and --layer. Parameters are those of the pooling, without"
                        + " backbone and classifier.%n'gramian methods NAME' shows one in full.%n",
                context(backbone));
    }

    /** Prints one method with the meaning of its stages. */
    private void printOne(MethodRow row, Backbone backbone) {
        line(row.name, row.title);
        line("family", row.family);
        line("formula", row.formula);
        line("reference", row.reference);
        line("pooling", row.pooling);
        line("classifier", row.classifier);
        line("", "");
        if (row.incompatibility == null) {
            if (!row.pooling.equals(row.resolved)) {
                line("resolved", String.valueOf(row.resolved));
            }
            line("descriptor", number(row.descriptor) + " values");
            line("parameters", number(row.trained) + " trained, " + number(row.fitted) + " fitted to data");
        } else {
            line("does not fit", row.incompatibility);
        }
        line("", context(backbone));
        line("", "");
        WORD.matcher(row.pooling)
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

    private static String number(@Nullable Long count) {
        return count == null ? "-" : String.format(Locale.ROOT, "%,d", count);
    }

    /** Method on a backbone; sizes are absent where it does not fit. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record MethodRow(
            String name,
            String title,
            String family,
            String pooling,
            String backbone,
            String layer,
            int images,
            @Nullable String resolved,
            String classifier,
            @Nullable Long descriptor,
            @Nullable Long trained,
            @Nullable Long fitted,
            @Nullable String incompatibility,
            String formula,
            String reference) {
        static MethodRow of(Method method, Backbone backbone, int images) {
            String resolved = null;
            Long descriptor = null;
            Long trained = null;
            Long fitted = null;
            String incompatibility = null;
            try {
                Pooling pooling = Pooling.parse(method.pooling()).resolve(backbone, images);
                requirePositions(pooling.aggregation(), backbone);
                List<ParameterSpec> parameters = pooling.parameters(backbone.channels());
                descriptor = pooling.descriptorSize(backbone.channels());
                trained = count(parameters, false);
                fitted = count(parameters, true);
                resolved = pooling.text();
            } catch (IllegalArgumentException unfit) {
                incompatibility = unfit.getMessage();
            }
            return new MethodRow(
                    method.name(),
                    method.title(),
                    method.family().text(),
                    method.pooling(),
                    backbone.name(),
                    backbone.layer(),
                    images,
                    resolved,
                    method.classifier(),
                    descriptor,
                    trained,
                    fitted,
                    incompatibility,
                    method.formula(),
                    method.reference());
        }

        private static void requirePositions(Aggregation aggregation, Backbone backbone) {
            int side = backbone.about().size();
            Shape features = backbone.features(side, side);
            if (Math.min(features.at(1), features.at(2)) < aggregation.leastSide()) {
                throw new IllegalArgumentException(
                        "%1$s needs maps of at least %2$d×%2$d positions; %3$s gives %4$d×%5$d of images of %6$d×%6$d"
                                .formatted(
                                        aggregation.text(),
                                        aggregation.leastSide(),
                                        backbone,
                                        features.at(1),
                                        features.at(2),
                                        side));
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
