package org.gramian.basis;

import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Numbers of bytes as text, in powers of ten: {@code 652.3 MB}. */
public final class ByteSize {
    private static final List<String> UNITS = List.of("bytes", "kB", "MB", "GB", "TB");
    private static final Pattern FORM = Pattern.compile("(\\d{1,15}(?:\\.\\d{1,3})?) ?([kmgt]?)b?");

    private ByteSize() {}

    /** Formats a number of bytes, as {@code 652.3 MB}. */
    public static String text(long bytes) {
        double value = bytes;
        int unit = 0;
        while (value >= 1000 && unit < UNITS.size() - 1) {
            value /= 1000;
            unit++;
        }
        return unit == 0 ? bytes + " bytes" : String.format(Locale.ROOT, "%.1f %s", value, UNITS.get(unit));
    }

    /**
     * Parses a number of bytes, as {@code 2GB}, {@code 1.5 TB}, {@code 500m} or {@code 0}.
     *
     * @throws IllegalArgumentException if the text is not a size
     */
    public static long parse(String text) {
        Matcher parts = FORM.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!parts.matches()) {
            throw new IllegalArgumentException("expected a size such as 500MB or 2GB, found '" + text + "'");
        }
        int power = 3 * ("kmgt".indexOf(parts.group(2)) + (parts.group(2).isEmpty() ? 0 : 1));
        BigDecimal bytes = new BigDecimal(parts.group(1)).movePointRight(power);
        return bytes.min(BigDecimal.valueOf(Long.MAX_VALUE)).longValue();
    }
}
