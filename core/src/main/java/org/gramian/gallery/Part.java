package org.gramian.gallery;

/** The set that an image belongs to, in the order of a gallery. */
public enum Part {
    TRAINING("training", 0),
    VALIDATION("validation", 1),
    TEST("test", 2);

    private final String words;
    private final int code;

    Part(String words, int code) {
        this.words = words;
        this.code = code;
    }

    /** Returns the number in files, independent of the order of constants. */
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

    /** Returns the name, as {@code validation}. */
    public String words() {
        return words;
    }
}
