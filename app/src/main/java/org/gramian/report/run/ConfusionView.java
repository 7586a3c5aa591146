package org.gramian.report.run;

import java.util.ArrayList;
import java.util.List;
import org.gramian.evaluate.ConfusionMatrix;
import org.gramian.report.run.PredictionSet.ScoredPrediction;

/**
 * Confusion matrix with the images of every cell.
 *
 * @param classes names of rows and columns
 * @param rows one per true class; empty with more than {@value #MOST_CLASSES} classes
 * @param popups images of the cells that are not empty
 * @param pairs most frequent confusions
 */
public record ConfusionView(
        List<String> classes, List<Row> rows, List<Popup> popups, List<ConfusionMatrix.Confusion> pairs) {
    /** Most classes of a matrix that is shown. */
    public static final int MOST_CLASSES = 120;

    /** Most images shown of a cell. */
    public static final int OF_A_CELL = 24;

    /** Most images shown of all cells, errors first. */
    public static final int OF_ALL = 4_000;

    private static final int PAIRS = 12;
    private static final int LEVELS = 8;

    /** Predictions for the images of a class. */
    public record Row(String name, int support, List<Cell> cells) {}

    /**
     * Cell of the matrix.
     *
     * @param count number of images
     * @param level from 0 for none to 8 for all images of the row
     * @param right whether the cell lies on the diagonal
     * @param id of its popup; empty without one
     * @param text accessible name
     */
    public record Cell(int count, int level, boolean right, String id, String text) {}

    /**
     * Images of a cell.
     *
     * @param id referenced by the cell
     * @param title heading
     * @param shown some of them
     * @param more number of images not shown
     */
    public record Popup(String id, String title, List<TestPrediction> shown, int more) {}

    /** Returns the matrix of all predictions; element identifiers start with a prefix. */
    static ConfusionView of(PredictionSet predictions, ImageSheet sheet, String prefix) {
        ConfusionMatrix matrix = predictions.confusion();
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
        return new ConfusionView(matrix.classes(), rows, popups(predictions, matrix, sheet, prefix), pairs);
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

    /** Returns the popups, errors first, as the total is bounded. */
    private static List<Popup> popups(
            PredictionSet predictions, ConfusionMatrix matrix, ImageSheet sheet, String prefix) {
        List<Popup> popups = new ArrayList<>();
        int room = OF_ALL;
        for (boolean right : new boolean[] {false, true}) {
            for (int truth = 0; truth < matrix.classes().size(); truth++) {
                for (int predicted = 0; predicted < matrix.classes().size(); predicted++) {
                    if (matrix.count(truth, predicted) > 0 && (truth == predicted) == right) {
                        List<ScoredPrediction> all = predictions.cell(truth, predicted);
                        List<TestPrediction> shown = all.stream()
                                .limit(Math.min(OF_A_CELL, room))
                                .map(one -> predictions.shown(one, sheet))
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

    /** Returns the CSS class for the size of the cells. */
    public String size() {
        return classes.size() <= 12 ? "few" : classes.size() <= 30 ? "some" : "many";
    }
}
