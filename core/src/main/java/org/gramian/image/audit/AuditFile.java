package org.gramian.image.audit;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.basis.AtomicTextFile;
import org.gramian.basis.JsonText;

/** What an audit found, as JSON for other programs: all of an {@link AuditReport} under the names of its parts. */
public final class AuditFile {
    /** Its name in the folder of a run. */
    public static final String NAME = "audit.json";

    private AuditFile() {}

    /** The text of the file. */
    public static String text(AuditReport report) {
        return JsonText.indented(report) + "\n";
    }

    /** Writes or replaces a file, whole or not at all. */
    public static void write(Path path, AuditReport report) throws IOException {
        AtomicTextFile.write(path, text -> text.write(text(report)));
    }
}
