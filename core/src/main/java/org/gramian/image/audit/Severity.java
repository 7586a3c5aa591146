package org.gramian.image.audit;

/** Severity of a finding, the worst first. */
public enum Severity {
    /** Training would fail, learn wrong labels, or report wrong results. */
    SPOILS("error"),
    /** Training works, but check it first. */
    WARN("warning"),
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
