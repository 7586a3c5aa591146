package org.gramian.report.run.material;

/**
 * A part of a report that cannot be shown.
 *
 * @param part which
 * @param reason why, and what would bring it
 */
public record Missing(Part part, String reason) {
    /** Parts that a report can do without. */
    public enum Part {
        FOLD,
        CURVES,
        PICTURES,
        MODEL,
        SPD,
        CONFIGURATION,
        AUDIT
    }
}
