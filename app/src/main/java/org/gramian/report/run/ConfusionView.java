package org.gramian.report.run;

import java.util.ArrayList;
import java.util.List;
import org.gramian.evaluate.ConfusionMatrix;
import org.gramian.report.run.Outcomes.Answered;

/**
 * A confusion matrix as a table, with the images behind every cell.
 *
 * @param classes the names of rows and columns
 * @param rows a row for each true class; none where there are too many classes to see anything
 * @param popups the images of cells that are not empty
 * @param pairs the most frequent mistakes
 */
public record ConfusionView(
        List<String> classes, List<Row> rows, List<Popup> popups, List<ConfusionMatrix.Confusion> pairs) {
    /** A matrix of more classes is left out. */
    public static final int MOST_CLASSES = 120;

    /** A cell shows so many of its images. */
    public static final int OF_A_CELL = 24;

    /** All cells together show so many: mistakes first. */
    public static final int OF_ALL = 4_000;

    private static final int PAIRS = 12;
    private static final int LEVELS = 8;

    /** The answers to the images of a class. */
    public record Row(String name, int support, List<Cell> cells) {}

    /**
     * So many images of one class that were taken for one.
     *
     * @param count how many
     * @param level from 0 for none to 8 for all images of the row
     * @param right whether it lies on the diagonal
     * @param id of its popup; empty without one
     * @param text for those who cannot see where it lies
     */
    public record Cell(int count, int level, boolean right, String id, String text) {}

    /**
     * The images of a cell.
     *
     * @param id by which a cell opens it
     * @param title what they have in common
     * @param shown some of them
     * @param more how many are not shown
     */
    public record Popup(String id, String title, List<ShownImage> shown, int more) {}

    /** Of all answers; identifiers begin with a prefix. */
    static ConfusionView of(Outcomes outcomes, ImageSheet sheet, String prefix) {
        ConfusionMatrix matrix = outcomes.confusion();
        List<ConfusionMatrix.Confusion> pairs =
                matrix.confusions().stream().limit(PAIRS).toList();
        int size = matrix.classes().size();
        if (size > MOST_CLASSES) {
            return new ConfusionView(matrix.classes(), List.of(), List.of(), pairs);
        }
        List<Row> rows = new ArrayList<>();
        for (int truth = 0; truth < size; truth++) {
            rows.add(row(matrix, truth, prefix));
        }
        return new ConfusionView(matrix.classes(), rows, popups(outcomes, matrix, sheet, prefix), pairs);
    }

    private static Row row(ConfusionMatrix matrix, int truth, String prefix) {
        int support = matrix.perClass().get(truth).support();
        List<Cell> cells = new ArrayList<>();
        for (int predicted = 0; predicted < matrix.classes().size(); predicted++) {
            int count = matrix.count(truth, predicted);
            int level = count == 0 ? 0 : Math.max(1, Math.ceilDiv(LEVELS * count, Math.max(1, support)));
            cells.add(new Cell(
                    count,
                    level,
                    truth == predicted,
                    count == 0 ? "" : id(prefix, truth, predicted),
                    title(matrix, truth, predicted)));
        }
        return new Row(matrix.classes().get(truth), support, cells);
    }

    private static String id(String prefix, int truth, int predicted) {
        return prefix + "cell-" + truth + "-" + predicted;
    }

    private static String title(ConfusionMatrix matrix, int truth, int predicted) {
        String name = matrix.classes().get(truth);
        String images = Figures.count(matrix.count(truth, predicted), "image") + " of " + name;
        return truth == predicted
                ? images + " predicted correctly"
                : images + " predicted as " + matrix.classes().get(predicted);
    }

    /** Mistakes first, for there may be no room for all. */
    private static List<Popup> popups(Outcomes outcomes, ConfusionMatrix matrix, ImageSheet sheet, String prefix) {
        List<Popup> popups = new ArrayList<>();
        int room = OF_ALL;
        for (boolean right : new boolean[] {false, true}) {
            for (int truth = 0; truth < matrix.classes().size(); truth++) {
                for (int predicted = 0; predicted < matrix.classes().size(); predicted++) {
                    if (matrix.count(truth, predicted) > 0 && (truth == predicted) == right) {
                        List<Answered> all = outcomes.cell(truth, predicted);
                        List<ShownImage> shown = all.stream()
                                .limit(Math.min(OF_A_CELL, room))
                                .map(answer -> outcomes.shown(answer, sheet))
                                .toList();
                        room -= shown.size();
                        popups.add(new Popup(
                                id(prefix, truth, predicted),
                                title(matrix, truth, predicted),
                                shown,
                                all.size() - shown.size()));
                    }
                }
            }
        }
        return popups;
    }

    /** A style for the size of cells. */
    public String size() {
        return classes.size() <= 12 ? "few" : classes.size() <= 30 ? "some" : "many";
    }
}
