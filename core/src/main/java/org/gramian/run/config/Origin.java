package org.gramian.run.config;

import java.nio.file.Path;

/**
 * Where a value of the configuration came from, in words for people, and whether anybody wanted it.
 *
 * @param text as {@code default}, {@code run.yaml, line 3}, {@code --lr} or {@code chosen: …}
 * @param wanted whether somebody asked for this very value; others suit what was asked for beside them, and may not suit
 *     anything else
 */
public record Origin(String text, boolean wanted) {
    /** Nobody asked for anything else. */
    public static final Origin DEFAULT = new Origin("default", false);

    /** Set by a program that uses this library. */
    public static final Origin CODE = new Origin("code", true);

    /** A line of a file, by its name alone: the folders of a machine mean nothing elsewhere. */
    static Origin file(Path file, int line) {
        return new Origin(file.getFileName() + ", line " + line, true);
    }

    /** An option of the command line, as {@code --lr}. */
    public static Origin flag(String name) {
        return new Origin(name, true);
    }

    /** Chosen to suit the other values, the data or the machine. */
    static Origin chosen(String reason) {
        return new Origin("chosen: " + reason, false);
    }

    /** The same place, of a value that nobody asked for. */
    Origin unwanted() {
        return new Origin(text, false);
    }

    @Override
    public String toString() {
        return text;
    }
}
