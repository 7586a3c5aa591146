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

    /** Smallest value that one decimal would show as 1000.0. */
    private static final double ROUNDED_UP = 999.95;

    private ByteSize() {}

    /** Formats a number of bytes, as {@code 652.3 MB}. */
    public static String text(long bytes) {
        double value = bytes;
        int unit = 0;
        while (value >= (unit == 0 ? 1000 : ROUNDED_UP) && unit < UNITS.size() - 1) {
            value /= 1000;
            unit++;
        }
        return unit == 0 ? bytes + " bytes" : String.format(Locale.ROOT, "%.1f %s", value, UNITS.get(unit));
    }

    /**
     * Parses a number of bytes, as {@code 2GB}, {@code 1.5 TB}, {@code 500m} or {@code 0}; a larger one than {@link
     * Long#MAX_VALUE} becomes that.
     *
     * @throws IllegalArgumentException if the text is not a size
     */
    public static long parse(String text) {
        Matcher parts = FORM.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!parts.matches()) {
            throw new IllegalArgumentException("expected a size such as 500MB or 2GB, found " + QuotedText.text(text));
        }
        String unit = parts.group(2);
        int power = unit.isEmpty() ? 0 : 3 * ("kmgt".indexOf(unit) + 1);
        BigDecimal bytes = new BigDecimal(parts.group(1)).movePointRight(power);
        return bytes.min(BigDecimal.valueOf(Long.MAX_VALUE)).longValue();
    }
}
