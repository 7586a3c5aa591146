package org.gramian.cli.check;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.gramian.basis.JsonText;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.TextTable;
import org.gramian.pooling.Fidelity;
import org.gramian.run.config.FidelityPoint;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian fidelity}: shows where the paper, its authors' code and this program differ. */
@Command(
        name = "fidelity",
        mixinStandardHelpOptions = true,
        header = "Show where the paper, its authors' code and this program differ.",
        description = {
            "Without WORD: every difference between the paper, its authors' released code and the corrected formulas, which",
            "are the default. With WORD: its differences, and how to use it."
        })
public final class FidelityCommand implements Callable<Integer> {
    private static final String AS_CORRECTED = "as corrected";

    @Mixin
    private final Console console = new Console();

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            defaultValue = "table",
            description = "output format: table, json, csv or markdown (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private TextTable.Format format;

    @Parameters(arity = "0..1", paramLabel = "WORD", description = "paper, authors or corrected")
    private @Nullable String word;

    @Override
    public Integer call() {
        Fidelity fidelity = word == null ? null : Fidelity.parse(word);
        List<FidelityPoint> mathematics = differing(FidelityPoint.mathematics(), fidelity);
        List<FidelityPoint> recipe = differing(FidelityPoint.recipe(), fidelity);
        List<FidelityPoint> all = new ArrayList<>(mathematics);
        all.addAll(recipe);
        PrintWriter out = console.out();
        switch (format) {
            case TABLE -> print(out, mathematics, recipe, fidelity);
            case JSON -> out.println(json(mathematics, recipe));
            case CSV -> out.print(table(all).csv());
            case MARKDOWN -> {
                out.print(table(mathematics).markdown());
                out.println();
                out.print(table(recipe).markdown());
            }
        }
        out.flush();
        return ExitCode.DONE;
    }

    /** Returns the points in which a fidelity differs from its {@linkplain #baseline baseline}; all points if null. */
    private static List<FidelityPoint> differing(List<FidelityPoint> points, @Nullable Fidelity fidelity) {
        return fidelity == null
                ? points
                : points.stream()
                        .filter(point -> point.differs(fidelity, baseline(fidelity)))
                        .toList();
    }

    /** Returns the baseline of a comparison: the paper for {@code corrected}, {@code corrected} for the others. */
    private static Fidelity baseline(Fidelity fidelity) {
        return fidelity == Fidelity.CORRECTED ? Fidelity.PAPER : Fidelity.CORRECTED;
    }

    private static TextTable table(List<FidelityPoint> points) {
        return new TextTable(
                List.of("point", "paper", "authors", "corrected", "set by"),
                points.stream()
                        .map(point -> List.of(
                                point.name(), point.paper(), point.authors(), point.corrected(), point.setting()))
                        .toList());
    }

    private static String json(List<FidelityPoint> mathematics, List<FidelityPoint> recipe) {
        Map<String, List<FidelityPoint>> document = new LinkedHashMap<>();
        document.put("mathematics", mathematics);
        document.put("recipe", recipe);
        return JsonText.indented(document);
    }

    private static void print(
            PrintWriter out, List<FidelityPoint> mathematics, List<FidelityPoint> recipe, @Nullable Fidelity fidelity) {
        if (fidelity == null) {
            printPoints(out, "mathematics", mathematics);
            printPoints(out, "recipe", recipe);
            out.println("'gramian fidelity authors' shows the differences of one of them, and how to set each.");
            out.println("'gramian train DIR --fidelity paper' uses it; the default is corrected.");
            return;
        }
        out.printf("%s against %s%n%n", fidelity.text(), baseline(fidelity).text());
        printChanges(out, "mathematics", mathematics, fidelity);
        printChanges(out, "recipe", recipe, fidelity);
        out.printf(
                "Use it with 'gramian train DIR --fidelity %s'. Options, configuration keys and arguments of --pooling%n",
                fidelity.text());
        out.println(
                "that you set take precedence. The run records the fidelity as the key fidelity of its config.yaml,");
        out.println("and in the header of its model files ('gramian show --all MODEL').");
    }

    private static void printPoints(PrintWriter out, String title, List<FidelityPoint> points) {
        List<String> header = List.of(title, Fidelity.PAPER.text(), Fidelity.AUTHORS.text(), Fidelity.CORRECTED.text());
        List<List<String>> rows = new ArrayList<>();
        for (FidelityPoint point : points) {
            rows.add(List.of(
                    point.name(),
                    shortened(point, Fidelity.PAPER),
                    shortened(point, Fidelity.AUTHORS),
                    point.corrected()));
        }
        new TextTable(header, rows).lines().forEach(out::println);
        out.println();
    }

    /** Abbreviates a long value that equals the last column: the table would be wider than a terminal. */
    private static String shortened(FidelityPoint point, Fidelity fidelity) {
        String value = point.of(fidelity);
        return value.equals(point.corrected()) && value.length() > AS_CORRECTED.length() ? AS_CORRECTED : value;
    }

    private static void printChanges(PrintWriter out, String title, List<FidelityPoint> points, Fidelity fidelity) {
        out.println(title);
        for (FidelityPoint point : points) {
            out.printf(
                    "  %s%n",
                    point.name().equals(point.setting()) ? point.name() : point.name() + ", " + point.setting());
            out.printf("      %-10s %s%n", fidelity.text(), point.of(fidelity));
            out.printf("      %-10s %s%n", baseline(fidelity).text(), point.of(baseline(fidelity)));
        }
        out.println();
    }
}
