package org.gramian.report.run.data;

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
