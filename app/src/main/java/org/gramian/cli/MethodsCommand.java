package org.gramian.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.gramian.backbone.Backbone;
import org.gramian.basis.JsonText;
import org.gramian.basis.NearestWord;
import org.gramian.pooling.Method;
import org.gramian.pooling.Methods;
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
final class MethodsCommand implements Callable<Integer> {
    private static final List<String> COLUMNS = List.of(
            "name",
            "title",
            "family",
            "pooling",
            "backbone",
            "layer",
            "pictures",
            "settled",
            "classifier",
            "descriptor",
            "parameters",
            "unfit",
            "formula",
            "reference");

    @Mixin
    private final Console console = new Console();

    @Option(
            names = "--backbone",
            paramLabel = "NAME",
            defaultValue = "vgg16",
            description = "backbone for the sizes (default: ${DEFAULT-VALUE}, as in the paper)")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String network;

    @Option(names = "--layer", paramLabel = "LAYER", description = "layer (default: the backbone's default layer)")
    private @Nullable String layer;

    @Option(
            names = {"--images", "--pictures"},
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
    public Integer call() {
        if (images < 1) {
            throw new IllegalArgumentException("--images: expected at least 1, found " + images);
        }
        Backbone backbone = layer == null ? Backbone.of(network) : Backbone.of(network, layer);
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
        return Main.DONE;
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
}
