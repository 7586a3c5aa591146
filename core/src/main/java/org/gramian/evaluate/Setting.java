package org.gramian.evaluate;

import java.util.List;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.protocol.Fingerprint;
import org.gramian.image.dataset.protocol.Fold;
import org.gramian.image.dataset.protocol.FoldSet;

/**
 * Test set of an evaluation. Evaluations are comparable if fingerprint and fold agree.
 *
 * @param protocol e.g. {@code thirds:3}
 * @param fold name of the fold, e.g. {@code third 2}
 */
public record Setting(String protocol, String fold, Fingerprint fingerprint, long seed) {
    /** Identifies the test set of a fold. */
    public static Setting of(FoldSet plan, Fold fold) {
        return new Setting(plan.protocol().text(), fold.name(), plan.fingerprint(), plan.seed());
    }

    /** Identifies all images of a dataset. */
    public static Setting all(Dataset dataset) {
        return new Setting("all", "all images", Fingerprint.of(dataset, List.of()), 0);
    }

    @Override
    public String toString() {
        String ofProtocol =
                protocol.startsWith(fold) ? "" : " '" + fold + "'"; // one split has the name of its protocol
        return "split " + protocol + ofProtocol + ", fingerprint " + fingerprint.brief();
    }
}
