package org.gramian.report.run;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.gramian.evaluate.Evaluation;
import org.gramian.gallery.Gallery;
import org.gramian.image.audit.AuditReport.Finding;
import org.gramian.inspect.SpdInspection;
import org.gramian.model.ModelHeader;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.loop.StageResult;

/** Files of a run. */
public record RunData(
        String name,
        List<FoldData> folds,
        ImageSheet.Thumbnails thumbnails,
        List<ConfigRow> configuration,
        Optional<AuditSummary> audit,
        Map<ReportPart, Set<String>> missing) {
    /** Optional parts of a report, with the reason if a part is missing without one. */
    public enum ReportPart {
        FOLD("the fold is not finished"),
        CURVES("the classifier was fitted by a solver, without epochs"),
        IMAGES("the gallery holds fewer than 4 test images"),
        MODEL("the run has no model"),
        SPD("this pooling has no matrices"),
        CONFIGURATION("it is empty"),
        AUDIT("the run has no audit");

        private final String usualReason;

        ReportPart(String usualReason) {
            this.usualReason = usualReason;
        }
    }

    /**
     * Files of one fold.
     *
     * @param afterFirst evaluation after stage 1, if stage 2 followed
     * @param poolings compared on the training images, the selected one first; empty if the pooling was given
     */
    public record FoldData(
            Evaluation evaluation,
            Optional<Evaluation> afterFirst,
            List<TrainEvent.EpochDone> epochs,
            List<StageResult> stages,
            Optional<Gallery> gallery,
            Optional<ModelData> model,
            Optional<SpdInspection> matrices,
            List<TrainEvent.HeadCandidate> poolings) {
        static FoldData of(Evaluation evaluation, Optional<ModelData> model) {
            return new FoldData(
                    evaluation,
                    Optional.empty(),
                    List.of(),
                    List.of(),
                    Optional.empty(),
                    model,
                    Optional.empty(),
                    List.of());
        }

        public String name() {
            return evaluation.setting().fold();
        }
    }

    /** Model file without its parameters: path as given, size and metadata. */
    public record ModelData(Path file, long bytes, ModelHeader header) {}

    public record ConfigRow(String key, String value, String origin) {
        /** Returns whether the user set the option. */
        public boolean isSet() {
            return !origin.equals("default") && !origin.startsWith("chosen");
        }
    }

    /** What the page shows of an audit: counts, and the findings, worst first. */
    public record AuditSummary(
            int images,
            List<Object> classes,
            List<Object> unreadable,
            List<Object> duplicates,
            List<Finding> findings) {}

    public static RunData of(String name, Evaluation evaluation, ModelData model, ImageSheet.Thumbnails thumbnails) {
        Set<String> reason = Set.of("this report covers one evaluation; see the report of the training run");
        return new RunData(
                name,
                List.of(FoldData.of(evaluation, Optional.of(model))),
                thumbnails,
                List.of(),
                Optional.empty(),
                Arrays.stream(ReportPart.values())
                        .filter(part -> part != ReportPart.FOLD)
                        .collect(Collectors.toMap(Function.identity(), _ -> reason)));
    }

    Set<String> reasons(ReportPart part) {
        return missing.getOrDefault(part, Set.of());
    }

    /** Returns why a part is not shown, as a sentence. */
    String without(ReportPart part) {
        Set<String> reasons = reasons(part);
        return "Not shown: " + (reasons.isEmpty() ? part.usualReason : String.join("; ", reasons)) + ".";
    }

    /** Returns the classes, which all folds share. */
    public List<String> classes() {
        return folds.getFirst().evaluation().classes();
    }

    public List<Evaluation> evaluations() {
        return folds.stream().map(FoldData::evaluation).toList();
    }

    /** Returns the model of the first fold that has one. */
    public Optional<ModelData> model() {
        return folds.stream().flatMap(fold -> fold.model().stream()).findFirst();
    }
}
