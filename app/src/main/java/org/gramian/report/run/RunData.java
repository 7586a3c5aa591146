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
import org.gramian.image.audit.Finding.Severity;
import org.gramian.inspect.SpdInspection;
import org.gramian.model.ModelHeader;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.event.TrainEvent.HeadCandidate;
import org.gramian.train.loop.StageResult;

/**
 * Files of a run.
 *
 * @param name of the run
 * @param folds with an evaluation, at least one
 * @param thumbnails of the test images
 * @param configuration options with their origins
 * @param audit of the images
 * @param missing reasons why optional parts are missing
 */
public record RunData(
        String name,
        List<FoldData> folds,
        Thumbnails thumbnails,
        List<ConfigRow> configuration,
        Optional<AuditSummary> audit,
        Map<ReportPart, Set<String>> missing) {
    /** Optional parts of a report. */
    public enum ReportPart {
        FOLD,
        CURVES,
        IMAGES,
        MODEL,
        SPD,
        CONFIGURATION,
        AUDIT
    }

    /**
     * Files of one fold.
     *
     * @param evaluation on the test images
     * @param afterFirst evaluation after stage 1, if stage 2 followed
     * @param epochs training history
     * @param stages results of the training stages
     * @param gallery thumbnails and descriptors
     * @param model model file
     * @param matrices inspection of the matrices of the pooling
     * @param poolings compared on the training images, the selected one first; empty if the pooling was given
     */
    public record FoldData(
            Evaluation evaluation,
            Optional<Evaluation> afterFirst,
            List<EpochDone> epochs,
            List<StageResult> stages,
            Optional<Gallery> gallery,
            Optional<ModelData> model,
            Optional<SpdInspection> matrices,
            List<HeadCandidate> poolings) {
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

    /**
     * Option of a run.
     *
     * @param key with its section, as {@code stage1.rate}
     * @param value as written in the file
     * @param origin comment of the line, such as {@code default}; empty without one
     */
    public record ConfigRow(String key, String value, String origin) {
        /** Returns whether the user set the option. */
        public boolean isSet() {
            return !origin.equals("default") && !origin.startsWith("chosen");
        }
    }

    /** Counts of an audit, and its findings, worst first. */
    public record AuditSummary(int images, int classes, int unreadable, int duplicates, List<AuditFinding> findings) {}

    /** Finding of an audit with the recommended action. */
    public record AuditFinding(Severity severity, String sentence, String advice) {}

    public static RunData of(String name, Evaluation evaluation, ModelData model, Thumbnails thumbnails) {
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

    /** Returns the classes, which all folds share. */
    public List<String> classes() {
        return folds.getFirst().evaluation().classes();
    }

    public List<Evaluation> evaluations() {
        return folds.stream().map(FoldData::evaluation).toList();
    }

    /** Returns the model of the first fold that has one. */
    Optional<ModelData> model() {
        return folds.stream().flatMap(fold -> fold.model().stream()).findFirst();
    }
}
