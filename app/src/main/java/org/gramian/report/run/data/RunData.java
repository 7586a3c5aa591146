package org.gramian.report.run.data;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.gramian.report.run.data.RunData.Missing.Part;

/**
 * Files of a run.
 *
 * @param name of the run
 * @param folds with an evaluation, at least one
 * @param thumbnails of the test images
 * @param configuration options with their origins
 * @param audit of the images
 * @param missing parts that are missing
 */
public record RunData(
        String name,
        List<FoldData> folds,
        Thumbnails thumbnails,
        List<ConfigRow> configuration,
        Optional<AuditData> audit,
        List<Missing> missing) {
    /**
     * Part of a report that is missing.
     *
     * @param part missing part
     * @param reason why it is missing
     */
    public record Missing(Part part, String reason) {
        /** Optional parts of a report. */
        public enum Part {
            FOLD,
            CURVES,
            IMAGES,
            MODEL,
            SPD,
            CONFIGURATION,
            AUDIT
        }
    }

    public RunData {
        folds = List.copyOf(folds);
        configuration = List.copyOf(configuration);
        missing = List.copyOf(missing);
        if (folds.isEmpty()) {
            throw new IllegalArgumentException("expected a run with an evaluation, found none");
        }
    }

    /** Returns an evaluation without a training run. */
    public static RunData of(String name, FoldData evaluated, Thumbnails thumbnails) {
        String reason = "this report covers one evaluation; see the report of the training run";
        return new RunData(
                name,
                List.of(evaluated),
                thumbnails,
                List.of(),
                Optional.empty(),
                Arrays.stream(Part.values())
                        .filter(part -> part != Part.FOLD)
                        .map(part -> new Missing(part, reason))
                        .toList());
    }

    /** Returns the reasons why a part is missing, without repetition. */
    public List<String> reasons(Part part) {
        return missing.stream()
                .filter(one -> one.part() == part)
                .map(Missing::reason)
                .distinct()
                .toList();
    }

    /** Returns the classes, which all folds share. */
    public List<String> classes() {
        return folds.getFirst().evaluation().classes();
    }
}
