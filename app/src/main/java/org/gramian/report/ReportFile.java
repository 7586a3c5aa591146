package org.gramian.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.gramian.basis.WholeText;

/**
 * A text file that appears under its name complete or not at all, replacing an older one.
 *
 * @param path where
 */
public record ReportFile(Path path) {
    /** Says before the work, not after it, that the report could not be written. */
    public static ReportFile of(Path path) {
        Path folder = path.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder) || !Files.isWritable(folder)) {
            throw new IllegalArgumentException(
                    "a report needs an existing folder that can be written to, found " + path);
        }
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            throw new IllegalArgumentException("a report replaces a file or nothing, found something else at " + path);
        }
        return new ReportFile(path);
    }

    public void write(String text) throws IOException {
        WholeText.write(path, file -> file.write(text));
    }
}
