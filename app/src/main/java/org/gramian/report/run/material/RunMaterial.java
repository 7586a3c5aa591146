package org.gramian.report.run.material;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.gramian.report.run.material.Missing.Part;

/**
 * What there is of a run.
 *
 * @param name for people
 * @param folds those that have an evaluation, at least one
 * @param thumbnails small copies of the test images
 * @param configuration every value with its origin
 * @param audit what was found in the images
 * @param missing what cannot be shown, and why
 */
public record RunMaterial(
        String name,
        List<FoldMaterial> folds,
        Thumbnails thumbnails,
        List<ConfigRow> configuration,
        Optional<AuditMaterial> audit,
        List<Missing> missing) {
    public RunMaterial {
        folds = List.copyOf(folds);
        configuration = List.copyOf(configuration);
        missing = List.copyOf(missing);
        if (folds.isEmpty()) {
            throw new IllegalArgumentException("expected a run with an evaluation, found none");
        }
    }

    /** An evaluation of a model that was trained elsewhere. */
    public static RunMaterial of(String name, FoldMaterial evaluated, Thumbnails thumbnails) {
        String reason = "this report covers one evaluation; see the report of the training run";
        return new RunMaterial(
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

    /** Why a part cannot be shown, one sentence for each place that it was looked for. */
    public List<String> reasons(Part part) {
        return missing.stream()
                .filter(one -> one.part() == part)
                .map(Missing::reason)
                .distinct()
                .toList();
    }

    /** The classes, which all folds share. */
    public List<String> classes() {
        return folds.getFirst().evaluation().classes();
    }
}
