package org.gramian.evaluate;

import java.util.List;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.protocol.Fingerprint;
import org.gramian.image.dataset.protocol.Fold;
import org.gramian.image.dataset.protocol.Plan;

/**
 * What was measured on: two evaluations can be compared if fingerprint and fold agree.
 *
 * @param protocol the text of the protocol, as {@code thirds:3}
 * @param fold the fold's name, as {@code third 2}
 * @param fingerprint of images, labels and all folds
 * @param seed what the run started from
 */
public record Setting(String protocol, String fold, Fingerprint fingerprint, long seed) {
    /** What a fold of a plan is known by. */
    public static Setting of(Plan plan, Fold fold) {
        return new Setting(plan.protocol().text(), fold.name(), plan.fingerprint(), plan.seed());
    }

    /** All images of a dataset, divided by nothing. */
    public static Setting all(Dataset dataset) {
        return new Setting("all", "all images", Fingerprint.of(dataset, List.of()), 0);
    }

    @Override
    public String toString() {
        return protocol + " '" + fold + "' with fingerprint " + fingerprint.brief();
    }
}
