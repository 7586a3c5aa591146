package org.gramian.image.audit;

/** How much a finding matters, the worst first. */
public enum Severity {
    /** Training would fail, learn something false, or report a figure that is not true. */
    SPOILS,
    /** Training works, but someone should look at it first. */
    WARN,
    /** Good to know. */
    NOTE
}
