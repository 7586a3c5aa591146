package org.gramian.basis;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/** File names in the character set of the process's locale, which Java decides at its start. */
public final class FileNames {
    private static final char REPLACEMENT = '\ufffd';

    private FileNames() {}

    /** Whether a name from the disk holds bytes that the locale's character set does not have. */
    public static boolean isDamaged(String name) {
        return name.indexOf(REPLACEMENT) >= 0;
    }

    /** The character set of file names. */
    public static String charset() {
        return System.getProperty("sun.jnu.encoding", Charset.defaultCharset().name());
    }

    /** Whether file names are UTF-8 in this process. */
    public static boolean isUtf8() {
        return charset().equalsIgnoreCase(StandardCharsets.UTF_8.name());
    }

    /** What is wrong with a name and what to do, as {@code NAME cannot be represented in ...}. */
    public static String problem(String name) {
        return "the file name " + QuotedText.text(name) + " cannot be represented in the character set " + charset()
                + " of this locale; run it again with: export LC_ALL=C.UTF-8";
    }
}
