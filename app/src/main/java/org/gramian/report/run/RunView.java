package org.gramian.report.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.gramian.evaluate.Calibration;
import org.gramian.evaluate.ConfusionMatrix.ClassScore;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Temperature;
import org.gramian.report.Figures;

/** View of one run. */
public record RunView(
        String prefix,
        RunData data,
        SummaryView summary,
        List<LearningView> learning,
        ConfusionView confusion,
        List<ClassScore> classes,
        List<PredictionSet.TestPrediction> mistakes,
        List<ReliabilityView> reliability,
        Optional<MapView> map,
        Optional<SpdView> spd,
        CardView card) {
    /** Most errors in the gallery. */
    public static final int MISTAKES = 48;

    /** Errors shown before expanding: all would fill ten screens of a phone. */
    public static final int AT_ONCE = 12;

    static RunView of(RunData run, String prefix, ImageSheet sheet) {
        PredictionSet predictions = PredictionSet.of(run);
        Optional<MapView> map = run.folds().stream()
                .flatMap(fold -> MapView.of(run, fold, sheet))
                .findFirst();
        return new RunView(
                prefix,
                run,
                SummaryView.of(run, predictions.confusion()),
                run.folds().stream()
                        .filter(fold -> !fold.epochs().isEmpty())
                        .map(LearningView::of)
                        .toList(),
                ConfusionView.of(predictions, sheet, prefix),
                predictions.confusion().perClass(),
                predictions.mistakes().stream()
                        .limit(MISTAKES)
                        .map(one -> predictions.shown(one, sheet))
                        .toList(),
                reliability(run.evaluations()),
                map,
                run.folds().stream().flatMap(SpdView::of).findFirst(),
                CardView.of(run));
    }

    private static List<ReliabilityView> reliability(List<Evaluation> folds) {
        List<Calibration> plain = folds.stream()
                .map(fold -> fold.calibrated(Temperature.NONE).calibration())
                .toList();
        List<ReliabilityView> views = new ArrayList<>();
        views.add(ReliabilityView.of("before temperature scaling", plain));
        if (folds.stream().anyMatch(fold -> fold.temperature().value() != 1)) {
            views.add(ReliabilityView.of(
                    "after temperature scaling",
                    folds.stream().map(Evaluation::calibration).toList()));
        }
        return views;
    }

    /** Returns the temperatures of the folds and how they were determined. */
    public String temperatures() {
        List<Evaluation> folds = data.evaluations();
        return String.join(
                "; ",
                folds.stream()
                        .map(fold -> (folds.size() == 1 ? "" : fold.setting().fold() + ": ")
                                + "T = "
                                + Figures.number(fold.temperature().value()) + ", calibrated by: "
                                + fold.temperature().source())
                        .toList());
    }

    public int mistaken() {
        return classes.stream()
                .mapToInt(score -> score.support() - score.right())
                .sum();
    }

    /** Returns why a part is not shown, as a sentence. */
    public String without(RunData.ReportPart part) {
        return data.without(part);
    }
}
