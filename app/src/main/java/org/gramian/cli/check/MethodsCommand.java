package org.gramian.cli.check;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.backbone.Backbone;
import org.gramian.basis.JsonText;
import org.gramian.basis.NearestWord;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.OnnxImport;
import org.gramian.cli.common.TextTable;
import org.gramian.cli.common.WeightsOptions;
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
        description = {
            "Without NAME: all methods by family, with descriptor size and number of parameters on a backbone.",
            "With NAME: formula, reference and the stages of one method. Needs neither weights nor libtorch.",
            "Use one by its name: 'gramian train DIR --pooling NAME'."
        })
public final class MethodsCommand implements Callable<Integer> {
    private static final List<String> COLUMNS = List.of(
            "name",
            "title",
            "family",
            "pooling",
            "backbone",
            "layer",
            "images",
            "settled",
            "classifier",
            "descriptor",
            "parameters",
            "unfit",
            "formula",
            "reference");

    @Mixin
    private final Console console = new Console();

    @Mixin
    private final WeightsOptions weights = new WeightsOptions();

    @Option(
            names = "--backbone",
            paramLabel = "NAME",
            defaultValue = "vgg16",
            description = "backbone for the sizes, or FILE.onnx (default: ${DEFAULT-VALUE}, as in the paper)")
    @SuppressWarnings("NullAway.Init") // set by picocli
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
            description = "output format: table, json, csv or markdown (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private TextTable.Format format;

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
        PrintWriter out = console.out();
        switch (format) {
            case TABLE -> {
                MethodsText text = new MethodsText(out, backbone, images);
                if (name == null) {
                    text.printAll(rows);
                } else {
                    text.printOne(rows.getFirst());
                }
            }
            case JSON -> out.println(JsonText.indented(name == null ? rows : rows.getFirst()));
            case CSV -> out.print(cells(rows).csv());
            case MARKDOWN -> out.print(cells(rows).markdown());
        }
        out.flush();
        return ExitCode.DONE;
    }

    private static Method find(String name) {
        return Methods.find(name)
                .orElseThrow(() -> new IllegalArgumentException("expected a method, found '" + name + "'"
                        + NearestWord.suggestion(name, Methods.names()) + "; 'gramian methods' lists all"));
    }

    private static TextTable cells(List<MethodRow> rows) {
        return new TextTable(
                COLUMNS,
                rows.stream()
                        .map(row -> List.of(
                                row.name(),
                                row.title(),
                                row.family(),
                                row.pooling(),
                                row.backbone(),
                                row.layer(),
                                Integer.toString(row.images()),
                                row.settled() == null ? "" : row.settled(),
                                row.classifier(),
                                row.descriptor() == null ? "" : row.descriptor().toString(),
                                row.trained() == null || row.fitted() == null
                                        ? ""
                                        : Long.toString(row.trained() + row.fitted()),
                                row.unfit() == null ? "" : row.unfit(),
                                row.formula(),
                                row.reference()))
                        .toList());
    }

    /**
     * Methods as text for people.
     *
     * @param out where it goes
     * @param backbone what the methods stand on
     * @param images how many there are to train on
     */
    private record MethodsText(PrintWriter out, Backbone backbone, int images) {
        /** A word of a text: not what follows its colon, a comma or an equals sign. */
        private static final Pattern WORD = Pattern.compile("(?<![a-z0-9.=:,-])[a-z][a-z0-9-]*");

        private String context() {
            int side = backbone.about().size();
            Shape features = backbone.features(side, side);
            return "on " + backbone.name() + " at " + backbone.layer() + " (" + features.at(0) + " channels, "
                    + features.at(1)
                    + "×" + features.at(2) + " positions of images of " + side + "×" + side + "), "
                    + images + (images == 1 ? " training image" : " training images");
        }

        /** One line each, family by family. */
        void printAll(List<MethodRow> rows) {
            List<List<String>> cells = new ArrayList<>();
            for (MethodRow row : rows) {
                cells.add(List.of(
                        row.name(),
                        row.title(),
                        row.descriptorText(),
                        row.parametersText(),
                        row.classifier(),
                        row.unfit() == null ? row.pooling() : row.pooling() + "  does not fit"));
            }
            List<String> lines = new TextTable(
                            List.of("name", "title", "descriptor", "parameters", "classifier", "pooling"), cells)
                    .lines();
            out.println(lines.getFirst());
            for (Method.Family family : Method.Family.values()) {
                if (rows.stream().anyMatch(row -> row.family().equals(family.text()))) {
                    out.printf("%n%s%n", family.text());
                }
                for (int i = 0; i < rows.size(); i++) {
                    if (rows.get(i).family().equals(family.text())) {
                        out.println(lines.get(i + 1));
                    }
                }
            }
            printUnfit(rows);
            out.printf(
                    "%nSizes %s;%nchange them with --backbone and --layer. Parameters are those of the pooling,",
                    context());
            out.printf(" without backbone and classifier.%n'gramian methods NAME' shows one in full.%n");
        }

        /** Why some do not fit, below the table: a reason is longer than its lines. */
        private void printUnfit(List<MethodRow> rows) {
            List<MethodRow> unfit =
                    rows.stream().filter(row -> row.unfit() != null).toList();
            if (!unfit.isEmpty()) {
                out.printf("%ndoes not fit%n");
                unfit.forEach(row -> out.printf("%s: %s%n", row.name(), row.unfit()));
            }
        }

        /** All about one, with what its words mean. */
        void printOne(MethodRow row) {
            String line = "%-12s %s%n";
            out.printf(line, row.name(), row.title());
            out.printf(line, "family", row.family());
            out.printf(line, "formula", row.formula());
            out.printf(line, "reference", row.reference());
            out.printf(line, "pooling", row.pooling());
            out.printf(line, "classifier", row.classifier());
            out.println();
            if (row.unfit() == null) {
                if (!row.pooling().equals(row.settled())) {
                    out.printf(line, "resolved", row.settled());
                }
                out.printf(line, "descriptor", row.descriptorText() + " values");
                out.printf(
                        line,
                        "parameters",
                        MethodRow.number(row.trained()) + " trained, " + MethodRow.number(row.fitted())
                                + " fitted to data");
            } else {
                out.printf(line, "does not fit", row.unfit());
            }
            out.printf(line, "", context());
            out.println();
            for (PoolingStage.Syntax word : words(row.pooling())) {
                out.printf(line, word.name(), word.meaning());
                if (!word.form().equals(word.name())) {
                    out.printf(line, "", "  syntax: " + word.form());
                }
            }
        }

        /** The words of a pooling's text, each once, in their order. */
        private static List<PoolingStage.Syntax> words(String text) {
            List<PoolingStage.Syntax> found = new ArrayList<>();
            Matcher matcher = WORD.matcher(text);
            while (matcher.find()) {
                PoolingStage.all().stream()
                        .filter(word -> word.name().equals(matcher.group()) && !found.contains(word))
                        .forEach(found::add);
            }
            return found;
        }
    }

    /**
     * What is shown of a method on a backbone, in print and as JSON.
     *
     * @param name what users type
     * @param title what it is called in tables
     * @param family what it belongs to
     * @param pooling its text
     * @param backbone the network that it stands on
     * @param layer where that is cut
     * @param images how many there are to train on
     * @param settled the text with all decided that it leaves open
     * @param classifier what reads the descriptor
     * @param descriptor numbers in it
     * @param trained numbers of the pooling that training moves
     * @param fitted numbers of the pooling that are fitted once
     * @param unfit why it cannot stand on the backbone, where it cannot; the settled text and the numbers are then absent
     * @param formula what it computes
     * @param reference where it is published
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record MethodRow(
            String name,
            String title,
            String family,
            String pooling,
            String backbone,
            String layer,
            int images,
            @Nullable String settled,
            String classifier,
            @Nullable Long descriptor,
            @Nullable Long trained,
            @Nullable Long fitted,
            @Nullable String unfit,
            String formula,
            String reference) {

        /** What a method is like on a backbone. */
        private record Size(String settled, long descriptor, long trained, long fitted) {}

        static MethodRow of(Method method, Backbone backbone, int images) {
            Size size = null;
            String reason = null;
            try {
                size = size(Pooling.parse(method.pooling()), backbone, images);
            } catch (IllegalArgumentException unfit) {
                reason = unfit.getMessage();
            }
            return new MethodRow(
                    method.name(),
                    method.title(),
                    method.family().text(),
                    method.pooling(),
                    backbone.name(),
                    backbone.layer(),
                    images,
                    size == null ? null : size.settled(),
                    method.classifier(),
                    size == null ? null : size.descriptor(),
                    size == null ? null : size.trained(),
                    size == null ? null : size.fitted(),
                    reason,
                    method.formula(),
                    method.reference());
        }

        private static Size size(Pooling open, Backbone backbone, int images) {
            Pooling pooling = open.resolve(backbone, images);
            requirePositions(pooling.aggregation(), backbone);
            long channels = backbone.channels();
            long descriptor = pooling.descriptorSize(channels);
            List<ParameterSpec> parameters = pooling.parameters(channels);
            return new Size(pooling.text(), descriptor, count(parameters, false), count(parameters, true));
        }

        private static void requirePositions(Aggregation aggregation, Backbone backbone) {
            int side = backbone.about().size();
            Shape features = backbone.features(side, side);
            if (Math.min(features.at(1), features.at(2)) < aggregation.leastSide()) {
                throw new IllegalArgumentException(aggregation.text() + " needs maps of at least "
                        + aggregation.leastSide() + "×" + aggregation.leastSide() + " positions; " + backbone
                        + " gives "
                        + features.at(1) + "×" + features.at(2) + " of images of " + side + "×" + side);
            }
        }

        private static long count(List<ParameterSpec> parameters, boolean fitted) {
            return parameters.stream()
                    .filter(spec -> fitted == (spec.role() == Role.FITTED))
                    .mapToLong(spec -> spec.shape().elements())
                    .sum();
        }

        /** The descriptor's size as a cell. */
        String descriptorText() {
            return number(descriptor);
        }

        /** All numbers of the pooling as a cell. */
        String parametersText() {
            return trained == null || fitted == null ? "-" : number(trained + fitted);
        }

        static String number(@Nullable Long count) {
            return count == null ? "-" : String.format(Locale.ROOT, "%,d", count);
        }
    }
}
