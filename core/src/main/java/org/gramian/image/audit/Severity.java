package org.gramian.image.audit;

/** How much a finding matters, the worst first. */
public enum Severity {
    /** Training would fail, learn something false, or report a figure that is not true. */
    SPOILS("error"),
    /** Training works, but someone should look at it first. */
    WARN("warning"),
    /** Good to know. */
    NOTE("note");

    private final String text;

    Severity(String text) {
        this.text = text;
    }

    /** Returns the word that is shown, as {@code error}; files in JSON hold the constant's name. */
    public String text() {
        return text;
    }
}
