package org.gramian.cli.common;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads times as people write them: {@code 90s}, {@code 0.5s}, {@code 30m}, {@code 1h30m}, {@code 30d}, {@code 2w}. */
public final class Durations implements ITypeConverter<Duration> {
    private static final Pattern FORM = Pattern.compile(
            "(?:(\\d{1,4})w)?(?:(\\d{1,5})d)?(?:(\\d{1,4})h)?(?:(\\d{1,6})m)?(?:(\\d{1,8}(?:\\.\\d{1,3})?)s)?");

    @Override
    public Duration convert(String text) {
        Matcher parts = FORM.matcher(text.strip());
        if (text.isBlank() || !parts.matches()) {
            throw new TypeConversionException("expected a time such as 90s, 30m, 1h30m or 2w, found '" + text + "'");
        }
        return Duration.ofDays(
                        7 * number(parts, 1).longValueExact() + number(parts, 2).longValueExact())
                .plusHours(number(parts, 3).longValueExact())
                .plusMinutes(number(parts, 4).longValueExact())
                .plusMillis(number(parts, 5).movePointRight(3).longValueExact());
    }

    private static BigDecimal number(Matcher parts, int group) {
        return parts.group(group) == null ? BigDecimal.ZERO : new BigDecimal(parts.group(group));
    }

    /** Writes a time in its two largest units, as {@code 2 h 5 min}; at least a second. */
    public static String text(Duration time) {
        if (time.toMinutes() == 0) {
            return Math.max(1, time.toSeconds()) + " s";
        }
        return time.toHours() == 0
                ? units(time.toMinutes(), " min", time.toSecondsPart(), " s")
                : units(time.toHours(), " h", time.toMinutesPart(), " min");
    }

    private static String units(long large, String largeUnit, int small, String smallUnit) {
        return large + largeUnit + (small == 0 ? "" : " " + small + smallUnit);
    }
}
