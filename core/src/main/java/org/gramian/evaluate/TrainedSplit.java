package org.gramian.evaluate;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.image.dataset.protocol.Fold;
import org.gramian.image.dataset.protocol.Plan;

/**
 * What a model has learned of a dataset that it was trained on.
 *
 * @param plan the division, with the model's fingerprint
 * @param fold the part that the model was trained by
 */
record TrainedSplit(Plan plan, Fold fold) {
    /** Of a dataset; nothing where the model was trained on another one. */
    static Optional<TrainedSplit> of(Dataset dataset, Duplicates duplicates, TrainedOn trained) {
        return trained.again(dataset, duplicates).map(plan -> new TrainedSplit(plan, fold(plan, trained)));
    }

    /** A fingerprint that fits with a fold that does not: the origin was changed by hand, and nothing can be ruled out. */
    private static Fold fold(Plan plan, TrainedOn trained) {
        return trained.fold(plan)
                .orElseThrow(() -> new IllegalArgumentException(
                        "the model was trained on these images, but its metadata names the fold '%s', and %s has %s"
                                .formatted(
                                        trained.setting().fold(),
                                        plan.protocol().text(),
                                        names(plan))));
    }

    static String names(Plan plan) {
        return plan.folds().stream().map(fold -> "'" + fold.name() + "'").collect(Collectors.joining(", "));
    }

    /** The images that the model was kept from. */
    TestImages itsOwn() {
        Setting setting = Setting.of(plan, fold);
        String remark = "the model was trained on some of these images; evaluating on the "
                + fold.test().size() + " test images of its own fold '" + fold.name() + "' (" + setting.protocol()
                + ", seed " + setting.seed() + ")";
        return new TestImages(fold.test(), setting, List.of(remark));
    }

    /** How many of some images the model was trained or chosen by. */
    long count(List<Integer> indexes) {
        Set<Integer> seen = new HashSet<>(fold.train());
        seen.addAll(fold.validation());
        return indexes.stream().filter(seen::contains).count();
    }

    /** Its share in words. */
    String share(List<Integer> indexes) {
        long count = count(indexes);
        return "the model was trained on %d %% of these images (%d of %d)"
                .formatted(Math.round(100.0 * count / indexes.size()), count, indexes.size());
    }
}
