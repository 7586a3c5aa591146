package org.gramian.report;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.AtomicTextFile;

/**
 * A text file that appears under its name complete or not at all, replacing an older one.
 *
 * @param path where
 */
public record ReportFile(Path path) {
    /** Says before the work, not after it, that the report could not be written. */
    public static ReportFile of(Path path) throws IOException {
        AtomicFile.require(path);
        return new ReportFile(path);
    }

    public void write(String text) throws IOException {
        AtomicTextFile.write(path, file -> file.write(text));
    }
}
