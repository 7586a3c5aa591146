package org.gramian.backbone;

import org.gramian.image.crop.Preprocessing;

/**
 * What one should know of a network before using it.
 *
 * @param title its name in full
 * @param citation the paper it comes from
 * @param size rows and columns of the images it was trained on
 * @param preprocessing what its usual weights expect
 * @param weights where they come from
 */
public record BackboneInfo(String title, String citation, int size, Preprocessing preprocessing, Weights weights) {
    /**
     * Where weights come from.
     *
     * @param source who published them
     * @param licence under which terms
     */
    public record Weights(String source, String licence) {
        /** For a network whose numbers follow from formulas. */
        static final Weights NOT_NEEDED =
                new Weights("none needed: computed by formula", "Apache-2.0, like this program");

        /** Whether somebody must bring weights. */
        public boolean needed() {
            return !equals(NOT_NEEDED);
        }
    }
}
