package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.gramian.demo.DemoFolder;
import org.gramian.demo.DemoRecipe;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Interval;
import org.gramian.evaluate.PairedTest;
import org.gramian.report.run.RunReport;
import org.gramian.run.FoldResult;
import org.gramian.run.RunResult;

/**
 * What the demo ends with: both accuracies, whether their difference is more than luck, and what to look at and to type next.
 *
 * @param recipe what was trained
 * @param folder where it is kept
 * @param results of its entries, in their order
 */
record DemoSummary(DemoRecipe recipe, DemoFolder folder, List<RunResult> results) {
    private static final String LINE = System.lineSeparator();

    String text() {
        Evaluation average = evaluation(0);
        Evaluation secondOrder = evaluation(1);
        Columns rows = new Columns();
        for (int i = 0; i < results.size(); i++) {
            rows.row(recipe.entries().get(i).name(), evaluation(i).accuracy().text() + " %");
        }
        StringBuilder text = new StringBuilder(LINE);
        text.append("Test accuracy on ")
                .append(average.predictions().size())
                .append(" images (95 % CI):")
                .append(LINE);
        rows.appendTo(text);
        PairedTest test = PairedTest.of(secondOrder, average);
        return text.append(LINE)
                .append("second-order minus average: ")
                .append(test.text())
                .append(LINE)
                .append(verdict(test))
                .append(LINE)
                .toString();
    }

    private static String verdict(PairedTest test) {
        Interval difference = test.differenceInterval();
        if (difference.low() > 0) {
            return "Significant: second-order pooling is better on these textures.";
        }
        return difference.high() < 0
                ? "Significant: average pooling is better on these textures."
                : "Not significant: the confidence interval of the difference contains 0.";
    }

    private Evaluation evaluation(int index) {
        return fold(index).evaluation();
    }

    private FoldResult fold(int index) {
        return results.get(index).folds().getFirst();
    }

    /** The model of the second entry. */
    Path model() {
        return fold(1).model();
    }

    /** What to type next. */
    String next(boolean served) {
        Path image =
                folder.images().resolve(evaluation(1).predictions().getFirst().name());
        List<String> lines = new ArrayList<>(List.of("Try next:", CommandHint.of("predict", model(), image)));
        lines.add(CommandHint.of("explain", model(), image, folder.path().resolve("explained.png")));
        if (!served) {
            lines.add(CommandHint.of("serve", model()) + "   and drop images on its web page");
        }
        lines.add(CommandHint.of("train", "DIR") + "   with one subfolder of images per class in DIR");
        return lines.stream().collect(Collectors.joining(LINE + "  ", "", LINE));
    }

    /** Writes the report of both runs, side by side, and says how to open it. */
    String report() throws IOException {
        Path page = folder.path().resolve(RunReport.FILE);
        RunReport.write(recipe.entries().stream().map(folder::run).toList(), page, Version.number());
        return LINE + "Report: open " + page + " in a browser (" + page.toUri() + ")" + LINE;
    }
}
