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
}
