package org.gramian.report.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.gramian.evaluate.Calibration;
import org.gramian.evaluate.ConfusionMatrix.ClassScore;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Temperature;
import org.gramian.report.run.data.ConfigRow;
import org.gramian.report.run.data.FoldData;
import org.gramian.report.run.data.RunData;
import org.gramian.report.run.data.RunData.Missing.Part;
import org.gramian.train.loop.PoolingSelection;

/**
 * View of one run.
 *
 * @param prefix of its element identifiers
 * @param data of the run
 * @param summary verdict and metrics
 * @param learning learning curves of every fold
 * @param confusion confusion matrix
 * @param classes precision, recall and F1 of every class
 * @param mistakes most confident errors
 * @param reliability before and, if a temperature was fitted, after temperature scaling
 * @param map embeddings of the first fold with a gallery
 * @param spd spectra of the first fold with SPD matrices
 * @param card model card
 */
public record RunView(
        String prefix,
        RunData data,
        SummaryView summary,
        List<LearningView> learning,
        ConfusionView confusion,
        List<ClassScore> classes,
        List<TestPrediction> mistakes,
        List<ReliabilityView> reliability,
        Optional<MapView> map,
        List<SpdView> spd,
        CardView card) {
    /** Most errors in the gallery. */
    public static final int MISTAKES = 48;

    /** Errors shown before expanding: all would fill ten screens of a phone. */
    public static final int AT_ONCE = 12;

    static RunView of(RunData run, String prefix, ImageSheet sheet) {
        PredictionSet predictions = PredictionSet.of(run);
        Optional<MapView> map = run.folds().stream()
                .flatMap(fold -> fold.gallery().stream()
                        .flatMap(gallery ->
                                MapView.of(gallery, fold.name(), PredictionSet.of(run, List.of(fold)), sheet).stream()))
                .findFirst();
        return new RunView(
                prefix,
                run,
                SummaryView.of(run, predictions),
                learning(run),
                ConfusionView.of(predictions, sheet, prefix),
                predictions.confusion().perClass(),
                predictions.mistakes().stream()
                        .limit(MISTAKES)
                        .map(scored -> predictions.shown(scored, sheet))
                        .toList(),
                reliability(run),
                map,
                matrices(run),
                CardView.of(run));
    }

    private static List<SpdView> matrices(RunData run) {
        return run.folds().stream()
                .flatMap(fold -> fold.matrices().stream()
                        .filter(inspection -> !inspection.stages().isEmpty())
                        .map(inspection -> SpdView.of(fold.name(), inspection)))
                .limit(1)
                .toList();
    }

    private static List<LearningView> learning(RunData run) {
        return run.folds().stream()
                .filter(fold -> !fold.epochs().isEmpty())
                .map(fold -> LearningView.of(fold.name(), fold.epochs(), fold.stages()))
                .toList();
    }

    private static List<ReliabilityView> reliability(RunData run) {
        List<Evaluation> folds = run.folds().stream().map(FoldData::evaluation).toList();
        List<Calibration> plain = folds.stream()
                .map(fold -> fold.calibrated(Temperature.NONE).calibration())
                .toList();
        List<ReliabilityView> views = new ArrayList<>();
        views.add(ReliabilityView.of("before temperature scaling", plain));
        if (folds.stream().anyMatch(fold -> fold.temperature().outcome() == Temperature.Outcome.FITTED)) {
            views.add(ReliabilityView.of(
                    "after temperature scaling",
                    folds.stream().map(Evaluation::calibration).toList()));
        }
        return views;
    }

    /** Returns the temperatures of the folds and how they were determined. */
    public String temperatures() {
        return String.join(
                "; ",
                data.folds().stream()
                        .map(FoldData::evaluation)
                        .map(fold ->
                                (data.folds().size() == 1 ? "" : fold.setting().fold() + ": ")
                                        + "T = "
                                        + Figures.number(fold.temperature().value()) + ", "
                                        + fold.temperature().outcome().text())
                        .toList());
    }

    /** Returns the number of errors. */
    public int mistaken() {
        return classes.stream()
                .mapToInt(score -> score.support() - score.right())
                .sum();
    }

    /** Returns the poolings compared in the first fold, the selected one first; empty if the pooling was given. */
    public List<PoolingSelection.Entry> poolings() {
        return data.folds().getFirst().poolings();
    }

    /** Returns why there are no curves. */
    public String withoutCurves() {
        return why(Part.CURVES, "the classifier was solved in closed form, without epochs");
    }

    /** Returns why there are no images. */
    public String withoutImages() {
        return why(Part.IMAGES, "the gallery holds fewer than 4 test images");
    }

    /** Returns why there are no matrices. */
    public String withoutMatrices() {
        return why(Part.SPD, "this pooling has no matrices");
    }

    /** Returns why there is no model. */
    public String withoutModel() {
        return why(Part.MODEL, "the run has no model");
    }

    /** Returns why there is no configuration. */
    public String withoutConfiguration() {
        return why(Part.CONFIGURATION, "it is empty");
    }

    /** Returns why there is no audit. */
    public String withoutAudit() {
        return why(Part.AUDIT, "the run has no audit");
    }

    private String why(Part part, String otherwise) {
        List<String> reasons = data.reasons(part);
        return "Not shown: " + (reasons.isEmpty() ? otherwise : String.join("; ", reasons)) + ".";
    }

    /** Returns the configuration. */
    public List<ConfigRow> configuration() {
        return data.configuration();
    }
}
