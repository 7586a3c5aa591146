package org.gramian.report.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.gramian.basis.Conformal;
import org.gramian.basis.QuotedText;
import org.gramian.evaluate.Calibration.Temperature;
import org.gramian.evaluate.ConfusionMatrix.ClassScore;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.evaluate.Evaluation.Setting;
import org.gramian.evaluate.Proportion;
import org.gramian.evaluate.compare.Comparison;
import org.gramian.evaluate.compare.FoldSummary;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelHeader;
import org.gramian.model.OpenSet.KnownImages;
import org.gramian.report.Figures;
import org.gramian.report.Figures.LabelledValue;

/** One run on a page: its sections, with facts as text. */
public record RunView(
        String prefix,
        RunData data,
        FoldSummary metrics,
        ConfusionView confusion,
        List<PredictionSet.TestPrediction> mistakes,
        Optional<MapView> map) {
    /** Most errors in the gallery. */
    public static final int MISTAKES = 48;

    /** Errors shown before expanding: all would fill ten screens of a phone. */
    public static final int AT_ONCE = 12;

    /** Entries of the provenance that other parts of the page show. */
    private static final Pattern ELSEWHERE = Pattern.compile("config\\..*|protocol|fold|fingerprint|seed|images");

    private static final int CLASSES = 200;

    /** Width of a confidence interval from which a remark is shown. */
    private static final double WIDE = 0.1;

    static RunView of(RunData run, String prefix, ImageSheet sheet) {
        PredictionSet predictions = PredictionSet.of(run);
        Optional<MapView> map = run.folds().stream()
                .flatMap(fold -> MapView.of(run, fold, sheet))
                .findFirst();
        return new RunView(
                prefix,
                run,
                FoldSummary.of(run.evaluations()),
                ConfusionView.of(predictions, sheet, prefix),
                predictions.mistakes().stream()
                        .limit(MISTAKES)
                        .map(one -> predictions.shown(one, sheet))
                        .toList(),
                map);
    }

    public List<LearningView> learning() {
        return data.folds().stream()
                .filter(fold -> !fold.epochs().isEmpty())
                .map(LearningView::of)
                .toList();
    }

    public List<ClassScore> classes() {
        return confusion.matrix().perClass();
    }

    public Optional<SpdView> spd() {
        return data.folds().stream().flatMap(SpdView::of).findFirst();
    }

    /** Returns the reliability diagrams before and, if it changes them, after temperature scaling. */
    public List<ReliabilityView> reliability() {
        List<Evaluation> folds = data.evaluations();
        List<ReliabilityView> views = new ArrayList<>();
        views.add(ReliabilityView.of(
                "before temperature scaling",
                folds.stream()
                        .map(fold -> fold.calibrated(Temperature.NONE).calibration())
                        .toList()));
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
        return classes().stream()
                .mapToInt(score -> score.support() - score.right())
                .sum();
    }

    /** Returns why a part is not shown, as a sentence. */
    public String without(RunData.ReportPart part) {
        return data.without(part);
    }

    /** Returns the result in a sentence. */
    public String verdict() {
        List<Evaluation> folds = data.evaluations();
        Proportion first = folds.getFirst().accuracy();
        String accuracy = folds.size() == 1
                ? Figures.withInterval(first) + ", " + Figures.count(first.right()) + " of "
                        + Figures.count(first.count(), "image") + " correct"
                : metrics.text(Metric.ACCURACY) + " % over " + Figures.count(folds.size(), "fold")
                        + " (mean ± standard deviation)";
        int most = classes().stream().mapToInt(ClassScore::support).max().orElse(0);
        int all = classes().stream().mapToInt(ClassScore::support).sum();
        String confused = confusion.matrix().confusions().stream()
                .findFirst()
                .map(worst -> "Most frequent confusion: " + worst.truth() + " predicted as " + worst.predicted() + " ("
                        + worst.count() + ").")
                .orElse("All test images are classified correctly.");
        return "Test accuracy " + accuracy + "; majority-class baseline " + Figures.percent((double) most / all)
                + " %. " + confused;
    }

    /** Returns what to know about the numbers. */
    public List<String> remarks() {
        List<Evaluation> folds = data.evaluations();
        List<String> remarks = new ArrayList<>();
        Proportion first = folds.getFirst().accuracy();
        if (folds.size() == 1 && first.interval().width() > WIDE) {
            remarks.add("With " + Figures.count(first.count(), "test image") + " the 95 % confidence interval is "
                    + Figures.percent(first.interval().width())
                    + " points wide: smaller differences between runs are not significant by themselves.");
        }
        if (folds.size() > 1) {
            remarks.add("The confusion matrix, class metrics, misclassified images and calibration below pool the test"
                    + " images of all folds.");
        }
        List<Evaluation> frozen = data.folds().stream()
                .flatMap(fold -> fold.afterFirst().stream())
                .toList();
        if (frozen.size() == folds.size()) {
            remarks.add("With the backbone frozen (stage 1) the accuracy was "
                    + FoldSummary.of(frozen).text(Metric.ACCURACY) + " %. " + fineTuning(folds, frozen));
        }
        remarks.addAll(data.reasons(RunData.ReportPart.FOLD));
        return remarks;
    }

    /** Returns the effect of stage 2 on the same images. */
    private static String fineTuning(List<Evaluation> folds, List<Evaluation> frozen) {
        try {
            Comparison comparison = Comparison.of(folds, frozen);
            return "Fine-tuning (stage 2) changed it by " + comparison.test().text()
                    + (comparison.repeated() > 0 ? "; p is too small because folds share test images." : ".");
        } catch (IllegalArgumentException refused) {
            return "The effect of fine-tuning (stage 2) is unknown: " + refused.getMessage() + ".";
        }
    }

    /** Returns the key figures. */
    public List<LabelledValue> tiles() {
        List<Evaluation> folds = data.evaluations();
        Proportion first = folds.getFirst().accuracy();
        int tested = folds.stream().mapToInt(fold -> fold.predictions().size()).sum();
        List<LabelledValue> tiles = new ArrayList<>();
        tiles.add(new LabelledValue("accuracy", metrics.text(Metric.ACCURACY) + " %"));
        if (folds.size() == 1) {
            tiles.add(new LabelledValue(
                    "95 % CI",
                    Figures.percent(first.interval().low()) + "–"
                            + Figures.percent(first.interval().high())));
        }
        tiles.add(new LabelledValue("macro F1", metrics.text(Metric.MACRO_F1) + " %"));
        tiles.add(new LabelledValue("calibration error", metrics.text(Metric.CALIBRATION_ERROR) + " %"));
        tiles.add(new LabelledValue("test images", Figures.count(tested)));
        tiles.add(new LabelledValue("classes", Figures.count(data.classes().size())));
        return tiles;
    }

    /** Returns dataset and split. */
    public List<LabelledValue> trained() {
        RunData.FoldData first = data.folds().getFirst();
        Setting setting = first.evaluation().setting();
        List<LabelledValue> facts = new ArrayList<>();
        first.model()
                .map(model -> model.header().card().origin())
                .flatMap(origin -> Optional.ofNullable(origin.get("images")))
                .ifPresent(images -> facts.add(new LabelledValue("images", images)));
        facts.add(new LabelledValue("classes", Figures.count(data.classes().size()) + ": " + names(data.classes())));
        facts.add(new LabelledValue("protocol", setting.protocol()));
        facts.add(new LabelledValue(
                data.folds().size() == 1 ? "fold" : "folds",
                String.join(
                        ", ", data.folds().stream().map(RunData.FoldData::name).toList())));
        facts.add(new LabelledValue("seed", Long.toString(setting.seed())));
        facts.add(new LabelledValue("fingerprint", setting.fingerprint().hex()));
        return facts;
    }

    /** Returns how images of no class are recognized, by fold; empty if the models classify every image. */
    public List<String> unknown() {
        List<String> texts = new ArrayList<>();
        for (RunData.FoldData fold : data.folds()) {
            fold.model()
                    .map(model -> model.header().card())
                    .ifPresent(card -> card.openSet().ifPresent(openSet -> {
                        String begin = data.folds().size() == 1 ? "An" : fold.name() + ": an";
                        String left = Optional.ofNullable(card.metrics().get(KnownImages.LEFT_OUT_AUROC))
                                .map(auroc ->
                                        " If a class is left out, its images are distinguished from those of the other"
                                                + " classes with an area under the ROC curve of %.1f %% (mean over the classes; 50 %% is chance). Images of another kind are easier to recognize."
                                                        .formatted(100 * auroc))
                                .orElse("");
                        texts.add(begin + " image is predicted as unknown if its p-value is at most " + openSet.rate()
                                + ", measured on "
                                + Figures.count(openSet.scores().size(), "image")
                                + " of known classes that took no part in fitting"
                                + (openSet.isPossible()
                                        ? "."
                                        : ": too few, no image is unknown; at least %d are needed."
                                                .formatted(Conformal.needed(openSet.rate())))
                                + left);
                    }));
        }
        return texts;
    }

    private static String names(List<String> classes) {
        return String.join(", ", classes.stream().limit(CLASSES).toList())
                + (classes.size() > CLASSES ? " and " + (classes.size() - CLASSES) + " more" : "");
    }

    public List<LabelledValue> facts(RunData.ModelData model) {
        ModelHeader header = model.header();
        ModelCard card = header.card();
        List<LabelledValue> facts = new ArrayList<>();
        facts.add(new LabelledValue("file", model.file() + ", " + Figures.bytes(model.bytes())));
        facts.add(new LabelledValue(
                "parameters",
                Figures.count(header.count("")) + ": backbone " + Figures.count(header.count("backbone."))
                        + ", pooling " + Figures.count(header.count("head.pooling.")) + ", classifier "
                        + Figures.count(header.count("head.classifier.") + header.count("head.norm."))));
        facts.add(new LabelledValue(
                "backbone",
                header.backbone().name() + ", layer " + header.backbone().layer()));
        facts.add(new LabelledValue("pooling", header.head().pooling().text()));
        facts.add(new LabelledValue("descriptor size", Figures.count(header.descriptorSize(), "number")));
        facts.add(new LabelledValue("preprocessing", card.preprocessing().text()));
        facts.add(new LabelledValue(
                "crops",
                card.crops().text() + ", mean of "
                        + Figures.count(card.crops().testing().count(), "crop")));
        facts.add(new LabelledValue("temperature", Figures.number(card.temperature())));
        for (Map.Entry<String, String> entry : card.origin().entrySet()) {
            if (!ELSEWHERE.matcher(entry.getKey()).matches()) {
                facts.add(new LabelledValue(entry.getKey(), entry.getValue()));
            }
        }
        return facts;
    }

    /** Returns the model file as an argument on the command line. */
    public String typed(RunData.ModelData model) {
        return QuotedText.argument(model.file().toString());
    }
}
