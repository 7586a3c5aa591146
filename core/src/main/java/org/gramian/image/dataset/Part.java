package org.gramian.image.dataset;

/** What an image is used for in one split. */
public enum Part {
    TRAIN("train"),
    VALIDATION("val"),
    TEST("test"),
    /** In none of the parts: no list names it. */
    UNUSED("unused");

    private final String word;

    Part(String word) {
        this.word = word;
    }

    /** The part's usual name in folders and lists, as {@code val}. */
    public String word() {
        return word;
    }
}
