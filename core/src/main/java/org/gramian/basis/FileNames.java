package org.gramian.basis;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/** File names in the character set of the process's locale. */
public final class FileNames {
    private static final char REPLACEMENT = '\ufffd';

    private FileNames() {}

    /** Returns whether a name from the disk has bytes that the locale's character set cannot represent. */
    public static boolean isDamaged(String name) {
        return name.indexOf(REPLACEMENT) >= 0;
    }

    public static String charset() {
        return System.getProperty("sun.jnu.encoding", Charset.defaultCharset().name());
    }

    public static boolean isUtf8() {
        return charset().equalsIgnoreCase(StandardCharsets.UTF_8.name());
    }

    /** Returns an error message with advice for a damaged name. */
    public static String problem(String name) {
        return "the file name " + QuotedText.text(name) + " cannot be represented in the character set " + charset()
                + " of this locale; run it again with: export LC_ALL=C.UTF-8";
    }
}
