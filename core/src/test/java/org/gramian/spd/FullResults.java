package org.gramian.spd;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** What the heavy tests measured at their stated size: Markdown lines that {@code ./verify --full} keeps in docs. */
public final class FullResults {
    private FullResults() {}

    /** Whether the heavy tests run at their stated size. */
    public static boolean wanted() {
        return Boolean.getBoolean("gramian.full");
    }

    /** Adds a line for a test, in a full run only. */
    public static void add(Class<?> test, String line) {
        if (!wanted()) {
            return;
        }
        Path file = Path.of("target", "full-results", test.getSimpleName() + ".md");
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, "- " + line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
