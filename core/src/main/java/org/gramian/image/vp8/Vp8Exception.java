package org.gramian.image.vp8;

import java.io.IOException;

/** Thrown for a frame that cannot be decoded. */
public final class Vp8Exception extends IOException {
    private static final long serialVersionUID = 1;

    private final boolean truncated;

    private Vp8Exception(boolean truncated, String message) {
        super(message);
        this.truncated = truncated;
    }

    static Vp8Exception truncated(String message) {
        return new Vp8Exception(true, message);
    }

    static Vp8Exception corrupt(String message) {
        return new Vp8Exception(false, message);
    }

    /** Returns whether the data ends too early, rather than being invalid. */
    public boolean isTruncated() {
        return truncated;
    }
}
