package org.gramian.run.config;

import java.nio.file.Path;

/**
 * Origin of a configuration value.
 *
 * @param text e.g. {@code default}, {@code run.yaml, line 3}, {@code --lr} or {@code chosen: …}
 * @param wanted whether the user set the value; other values suit the set ones and may not suit different ones
 */
public record Origin(String text, boolean wanted) {
    /** Fixed default of the key. */
    public static final Origin DEFAULT = new Origin("default", false);

    /** Set by a program that uses the library. */
    public static final Origin CODE = new Origin("code", true);

    /** Returns a line of a file, by its name without folders, which mean nothing on another machine. */
    static Origin file(Path file, int line) {
        return new Origin(file.getFileName() + ", line " + line, true);
    }

    /** Returns an option of the command line, e.g. {@code --lr}. */
    public static Origin flag(String name) {
        return new Origin(name, true);
    }

    /** Returns the origin of a value that suits the other values, the data or the machine. */
    static Origin chosen(String reason) {
        return new Origin("chosen: " + reason, false);
    }

    /** Returns the same origin for a value that the user did not set. */
    Origin unwanted() {
        return new Origin(text, false);
    }

    @Override
    public String toString() {
        return text;
    }
}
