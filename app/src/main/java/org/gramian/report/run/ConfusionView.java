package org.gramian.report.run;

import java.util.ArrayList;
import java.util.List;
import org.gramian.evaluate.ConfusionMatrix;
import org.gramian.report.Figures;

/**
 * Confusion matrix with the images of every cell.
 *
 * @param popups images of the cells that are not empty; none with more than {@value #MAX_CLASSES} classes
 */
public record ConfusionView(ConfusionMatrix matrix, List<Popup> popups, String prefix) {
    /** Most images shown of a cell. */
    public static final int OF_A_CELL = 24;

    /** Most classes of a matrix that is shown. */
    private static final int MAX_CLASSES = 120;

    /** Most images shown of all cells, errors first. */
    private static final int OF_ALL = 4_000;

    private static final int PAIRS = 12;
    private static final int LEVELS = 8;

    /** Some images of a cell, and the number of those not shown. */
    public record Popup(String id, String title, List<PredictionSet.TestPrediction> shown, int more) {}

    /** Returns the matrix of all predictions; the popups of errors come first, as the total is bounded. */
    static ConfusionView of(PredictionSet predictions, ImageSheet sheet, String prefix) {
        ConfusionMatrix matrix = predictions.confusion();
        ConfusionView view = new ConfusionView(matrix, new ArrayList<>(), prefix);
        int size = view.isShown() ? matrix.classes().size() : 0;
        int room = OF_ALL;
        for (boolean right : new boolean[] {false, true}) {
            for (int truth = 0; truth < size; truth++) {
                for (int predicted = 0; predicted < size; predicted++) {
                    if (matrix.count(truth, predicted) > 0 && (truth == predicted) == right) {
                        List<PredictionSet.TestPrediction> all = predictions.cell(truth, predicted);
                        List<PredictionSet.TestPrediction> shown = all.stream()
                                .limit(Math.min(OF_A_CELL, room))
                                .map(one -> predictions.shown(one, sheet))
                                .toList();
                        room -= shown.size();
                        view.popups.add(new Popup(
                                view.id(truth, predicted),
                                view.title(truth, predicted),
                                shown,
                                all.size() - shown.size()));
                    }
                }
            }
        }
        return view;
    }

    /** Returns whether the classes are few enough to show the matrix. */
    public boolean isShown() {
        return matrix.classes().size() <= MAX_CLASSES;
    }

    /** Returns the identifier of the popup of a cell. */
    public String id(int truth, int predicted) {
        return prefix + "cell-" + truth + "-" + predicted;
    }

    /** Returns the accessible name of a cell. */
    public String title(int truth, int predicted) {
        String name = matrix.classes().get(truth);
        String images = Figures.count(matrix.count(truth, predicted), "image") + " of " + name;
        return truth == predicted
                ? images + " predicted correctly"
                : images + " predicted as " + matrix.classes().get(predicted);
    }

    /** Returns the CSS classes of a cell: its colour, and its level from 1 to 8 for all images of the row. */
    public String style(int truth, int predicted) {
        int support = Math.max(1, support(truth));
        int level = Math.max(1, Math.ceilDiv(LEVELS * matrix.count(truth, predicted), support));
        return (truth == predicted ? "right" : "mistake") + " l" + level;
    }

    /** Returns the number of images of a class. */
    public int support(int truth) {
        return matrix.counts().get(truth).stream().mapToInt(Integer::intValue).sum();
    }

    public List<ConfusionMatrix.Confusion> pairs() {
        return matrix.confusions().stream().limit(PAIRS).toList();
    }

    public String size() {
        int classes = matrix.classes().size();
        return classes <= 12 ? "few" : classes <= 30 ? "some" : "many";
    }
}
