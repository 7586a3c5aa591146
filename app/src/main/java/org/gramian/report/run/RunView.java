package org.gramian.report.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.gramian.evaluate.Calibration;
import org.gramian.evaluate.ClassScore;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Temperature;
import org.gramian.report.run.material.ConfigRow;
import org.gramian.report.run.material.FoldMaterial;
import org.gramian.report.run.material.Missing.Part;
import org.gramian.report.run.material.RunMaterial;
import org.gramian.train.loop.PoolingRace;

/**
 * All that the page shows of one run.
 *
 * @param prefix what its identifiers begin with
 * @param material what there is of it
 * @param summary sentence and table
 * @param learning the course of every fold
 * @param confusion who was taken for whom
 * @param classes every class
 * @param mistakes the surest ones
 * @param reliability with the temperature, and without it where one was fitted
 * @param map the test images of the first fold that kept some
 * @param spd the matrices of the first fold that has some
 * @param card the model
 */
public record RunView(
        String prefix,
        RunMaterial material,
        SummaryView summary,
        List<LearningView> learning,
        ConfusionView confusion,
        List<ClassScore> classes,
        List<ShownImage> mistakes,
        List<ReliabilityView> reliability,
        Optional<MapView> map,
        List<SpdView> spd,
        CardView card) {
    /** So many of the surest mistakes have a place in the gallery. */
    public static final int MISTAKES = 48;

    /** So many of these are seen at once: on a telephone all would fill ten screens. */
    public static final int AT_ONCE = 12;

    static RunView of(RunMaterial run, String prefix, ImageSheet sheet) {
        Outcomes outcomes = Outcomes.of(run);
        Optional<MapView> map = run.folds().stream()
                .flatMap(fold -> fold.gallery().stream()
                        .flatMap(gallery ->
                                MapView.of(gallery, fold.name(), Outcomes.of(run, List.of(fold)), sheet).stream()))
                .findFirst();
        return new RunView(
                prefix,
                run,
                SummaryView.of(run, outcomes),
                learning(run),
                ConfusionView.of(outcomes, sheet, prefix),
                outcomes.confusion().perClass(),
                outcomes.mistakes().stream()
                        .limit(MISTAKES)
                        .map(answer -> outcomes.shown(answer, sheet))
                        .toList(),
                reliability(run),
                map,
                matrices(run),
                CardView.of(run));
    }

    private static List<SpdView> matrices(RunMaterial run) {
        return run.folds().stream()
                .flatMap(fold -> fold.matrices().stream()
                        .filter(inspection -> !inspection.stages().isEmpty())
                        .map(inspection -> SpdView.of(fold.name(), inspection)))
                .limit(1)
                .toList();
    }

    private static List<LearningView> learning(RunMaterial run) {
        return run.folds().stream()
                .filter(fold -> !fold.epochs().isEmpty())
                .map(fold -> LearningView.of(fold.name(), fold.epochs(), fold.stages(), fold.rateTests()))
                .toList();
    }

    private static List<ReliabilityView> reliability(RunMaterial run) {
        List<Evaluation> folds =
                run.folds().stream().map(FoldMaterial::evaluation).toList();
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

    /** How the temperatures of the folds came about. */
    public String temperatures() {
        return String.join(
                "; ",
                material.folds().stream()
                        .map(FoldMaterial::evaluation)
                        .map(fold -> (material.folds().size() == 1
                                        ? ""
                                        : fold.setting().fold() + ": ")
                                + "T = " + Figures.number(fold.temperature().value()) + ", "
                                + fold.temperature().outcome().text())
                        .toList());
    }

    /** How many mistakes there are in all. */
    public int mistaken() {
        return classes.stream()
                .mapToInt(score -> score.support() - score.right())
                .sum();
    }

    /** The poolings that the first fold compared, the chosen one first; none where the pooling was given. */
    public List<PoolingRace.Entry> poolings() {
        return material.folds().getFirst().poolings();
    }

    /** Why there are no curves; empty where there are. */
    public String withoutCurves() {
        return why(Part.CURVES, "the classifier was solved in closed form, without epochs");
    }

    /** Why there are no images; empty where there are. */
    public String withoutImages() {
        return why(Part.PICTURES, "the gallery holds fewer than 4 test images");
    }

    /** Why no matrices are shown. */
    public String withoutMatrices() {
        return why(Part.SPD, "this pooling has no matrices");
    }

    /** Why nothing is known of the model. */
    public String withoutModel() {
        return why(Part.MODEL, "the run has no model");
    }

    /** Why there is no configuration. */
    public String withoutConfiguration() {
        return why(Part.CONFIGURATION, "it is empty");
    }

    /** Why there is no audit. */
    public String withoutAudit() {
        return why(Part.AUDIT, "the run has no audit");
    }

    private String why(Part part, String otherwise) {
        List<String> reasons = material.reasons(part);
        return "Not shown: " + (reasons.isEmpty() ? otherwise : String.join("; ", reasons)) + ".";
    }

    /** Every value of the configuration. */
    public List<ConfigRow> configuration() {
        return material.configuration();
    }
}
