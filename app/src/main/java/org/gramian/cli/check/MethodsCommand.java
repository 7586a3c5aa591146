package org.gramian.cli.check;

import com.fasterxml.jackson.annotation.JsonInclude;
import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.backbone.Backbone;
import org.gramian.basis.CsvText;
import org.gramian.basis.JsonText;
import org.gramian.basis.NearestWord;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.OnnxImport;
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
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

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
    /** Word of a pooling's text: not an argument after a colon, a comma or an equals sign. */
    private static final Pattern WORD = Pattern.compile("(?<![a-z0-9.=:,-])[a-z][a-z0-9-]*");

    /** Output formats. */
    enum Format {
        TABLE,
        JSON,
        CSV,
        MARKDOWN
    }

    @Mixin
    private final Console console = new Console();

    @Mixin
    private final WeightsOptions weights = new WeightsOptions();

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
            description = "output format: table, json, csv or markdown (default: ${DEFAULT-VALUE})")
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
        PrintWriter out = console.out();
        switch (format) {
            case TABLE -> {
                if (name == null) {
                    printAll(rows, backbone);
                } else {
                    printOne(rows.getFirst(), backbone);
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
        List<String> columns = Arrays.stream(MethodRow.class.getRecordComponents())
                .map(RecordComponent::getName)
                .toList();
        List<List<String>> cells = new ArrayList<>();
        for (MethodRow row : rows) {
            JsonNode tree = JsonMapper.shared().valueToTree(row);
            cells.add(columns.stream()
                    .map(column -> tree.path(column).asString(""))
                    .toList());
        }
        return new TextTable(columns, cells);
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
        List<String> header = List.of("name", "title", "descriptor", "parameters", "classifier", "pooling");
        List<List<String>> cells = rows.stream()
                .map(row -> List.of(
                        row.name,
                        row.title,
                        number(row.descriptor),
                        row.trained == null || row.fitted == null ? "-" : number(row.trained + row.fitted),
                        row.classifier,
                        row.incompatibility == null ? row.pooling : row.pooling + "  does not fit"))
                .toList();
        List<String> lines = new TextTable(header, cells).lines();
        out.println(lines.getFirst());
        for (Method.Family family : Method.Family.values()) {
            if (rows.stream().anyMatch(row -> row.family.equals(family.text()))) {
                out.printf("%n%s%n", family.text());
            }
            for (int i = 0; i < rows.size(); i++) {
                if (rows.get(i).family.equals(family.text())) {
                    out.println(lines.get(i + 1));
                }
            }
        }
        if (rows.stream().anyMatch(row -> row.incompatibility != null)) {
            out.printf("%ndoes not fit%n");
        }
        rows.stream()
                .filter(row -> row.incompatibility != null)
                .forEach(row -> out.printf("%s: %s%n", row.name, row.incompatibility));
        out.printf(
                "%nSizes %s;%nchange them with --backbone and --layer. Parameters are those of the pooling, without backbone and"
                        + " classifier.%n'gramian methods NAME' shows one in full.%n",
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
        Set<String> words = WORD.matcher(row.pooling)
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toCollection(LinkedHashSet::new));
        for (String word : words) {
            PoolingStage.all().stream()
                    .filter(stage -> stage.name().equals(word))
                    .forEach(stage -> {
                        line(stage.name(), stage.meaning());
                        if (!stage.form().equals(stage.name())) {
                            line("", "  syntax: " + stage.form());
                        }
                    });
        }
    }

    private void line(String label, String text) {
        console.out().println("%-12s %s".formatted(label, text).stripTrailing());
    }

    private static String number(@Nullable Long count) {
        return count == null ? "-" : String.format(Locale.ROOT, "%,d", count);
    }

    /**
     * Method on a backbone, with its sizes.
     *
     * @param pooling as the method states it
     * @param images number of training images
     * @param resolved pooling with all defaults; absent, as the sizes, if it does not fit the backbone
     * @param descriptor size of a descriptor
     * @param trained number of trained parameters of the pooling
     * @param fitted number of parameters that are fitted to data
     * @param incompatibility why it does not fit the backbone
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
            @Nullable String resolved,
            String classifier,
            @Nullable Long descriptor,
            @Nullable Long trained,
            @Nullable Long fitted,
            @Nullable String incompatibility,
            String formula,
            String reference) {
        static MethodRow of(Method method, Backbone backbone, int images) {
            Pooling pooling;
            List<ParameterSpec> parameters;
            try {
                pooling = Pooling.parse(method.pooling()).resolve(backbone, images);
                requirePositions(pooling.aggregation(), backbone);
                parameters = pooling.parameters(backbone.channels());
            } catch (IllegalArgumentException unfit) {
                return of(method, backbone, images, null, null, null, null, unfit.getMessage());
            }
            return of(
                    method,
                    backbone,
                    images,
                    pooling.text(),
                    pooling.descriptorSize(backbone.channels()),
                    count(parameters, false),
                    count(parameters, true),
                    null);
        }

        private static MethodRow of(
                Method method,
                Backbone backbone,
                int images,
                @Nullable String resolved,
                @Nullable Long descriptor,
                @Nullable Long trained,
                @Nullable Long fitted,
                @Nullable String incompatibility) {
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
                    .filter(spec -> fitted == (spec.role() == Role.FITTED))
                    .mapToLong(spec -> spec.shape().elements())
                    .sum();
        }
    }

    /**
     * Cells under headings, as lines for people, as CSV or as Markdown.
     *
     * @param header names of the columns
     * @param rows cells, as many in each row as there are columns
     */
    private record TextTable(List<String> header, List<List<String>> rows) {
        /** One line each for the header and every row, columns of numbers to the right; the last column is not filled up. */
        List<String> lines() {
            List<String> forms = new ArrayList<>();
            for (int i = 0; i < header.size(); i++) {
                int column = i;
                int width =
                        all().mapToInt(row -> row.get(column).length()).max().orElse(1);
                boolean numbers = rows.stream().allMatch(row -> row.get(column).matches("[\\d,]+|-"));
                forms.add("%" + (numbers ? "" : "-") + Math.max(width, 1) + "s");
            }
            return all().map(row -> IntStream.range(0, forms.size())
                            .mapToObj(i -> forms.get(i).formatted(row.get(i)))
                            .collect(Collectors.joining("  "))
                            .stripTrailing())
                    .toList();
        }

        private Stream<List<String>> all() {
            return Stream.concat(Stream.of(header), rows.stream());
        }

        String csv() {
            StringWriter text = new StringWriter();
            CsvWriter writer = CsvWriter.builder()
                    .lineDelimiter(LineDelimiter.LF)
                    .bufferSize(0)
                    .build(text);
            all().forEach(row -> writer.writeRecord(CsvText.safe(row)));
            return text.toString();
        }

        String markdown() {
            StringBuilder text = new StringBuilder(line(header))
                    .append("|---".repeat(header.size()))
                    .append("|\n");
            rows.forEach(row -> text.append(line(row)));
            return text.toString();
        }

        private static String line(List<String> cells) {
            return cells.stream()
                    .map(cell -> cell.replace("|", "\\|").replace("<", "\\<"))
                    .collect(Collectors.joining(" | ", "| ", " |\n"));
        }
    }
}
