package org.gramian.image.dataset;

/** The part of a split that an image belongs to. */
public enum Part {
    TRAIN("train"),
    VALIDATION("val"),
    TEST("test"),
    /** In none of the parts. */
    UNUSED("unused");

    private final String word;

    Part(String word) {
        this.word = word;
    }

    /** Returns the name in folders and lists, as {@code val}. */
    public String word() {
        return word;
    }
}
