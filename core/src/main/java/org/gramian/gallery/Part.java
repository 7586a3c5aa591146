package org.gramian.gallery;

/** What an image of a gallery was to the model: the order is that of the images in a gallery. */
public enum Part {
    /** The model was trained on it. */
    TRAINING("training", 0),
    /** Epochs were judged by it. */
    HELD_BACK("validation", 1),
    /** The model never saw it before it was measured. */
    TEST("test", 2);

    private final String words;
    private final int code;

    Part(String words, int code) {
        this.words = words;
        this.code = code;
    }

    /** Its number in files, which outlive the order of constants. */
    int code() {
        return code;
    }

    /** @throws IllegalArgumentException if no part has that number */
    static Part ofCode(int code) {
        for (Part part : values()) {
            if (part.code == code) {
                return part;
            }
        }
        throw new IllegalArgumentException("expected 0, 1 or 2 as the part of an image, found " + code);
    }

    /** In a word, as {@code validation}. */
    public String words() {
        return words;
    }
}
