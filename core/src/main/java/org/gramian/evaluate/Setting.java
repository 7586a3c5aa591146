package org.gramian.evaluate;

import org.gramian.image.dataset.protocol.Fingerprint;

/**
 * What was measured on: two evaluations can be compared if fingerprint and fold agree.
 *
 * @param protocol the text of the protocol, as {@code thirds:3}
 * @param fold the fold's name, as {@code third 2}
 * @param fingerprint of pictures, labels and all folds
 * @param seed what the run started from
 */
public record Setting(String protocol, String fold, Fingerprint fingerprint, long seed) {
    @Override
    public String toString() {
        return protocol + " '" + fold + "' with fingerprint " + fingerprint.brief();
    }
}
