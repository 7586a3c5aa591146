package org.gramian.testing;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.Assertions;
import org.assertj.core.api.Condition;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/**
 * Values that a text or the message of an exception contains, whatever its wording.
 *
 * <p>A value counts as a whole word or number only: {@code 5} is not found in {@code 15}, {@code 0.5} or {@code
 * conv5_3}. Upper and lower case do not differ, nor do a noun and its plural with s. A value that is passed twice is
 * expected twice.
 */
public final class Facts extends Condition<Object> {
    private final Map<String, Integer> expected = new LinkedHashMap<>();

    private Facts(Object... values) {
        for (Object value : values) {
            String text = value.toString();
            if (text.isBlank()) {
                throw new IllegalArgumentException("expected values that are not blank, found '" + text + "'");
            }
            expected.merge(text, 1, Integer::sum);
        }
        if (expected.isEmpty()) {
            throw new IllegalArgumentException("expected at least 1 value, found none");
        }
        as("the facts %s", expected.keySet());
    }

    public static Facts facts(Object... values) {
        return new Facts(values);
    }

    /** Asserts that a call throws an {@link IllegalArgumentException} whose message has the facts. */
    public static void assertRejected(ThrowingCallable call, Object... facts) {
        assertRejected(IllegalArgumentException.class, call, facts);
    }

    /** Asserts that a call throws an exception of a type, or of one below it, whose message has the facts. */
    public static void assertRejected(Class<? extends Throwable> type, ThrowingCallable call, Object... facts) {
        AbstractThrowableAssert<?, ?> thrown =
                Assertions.assertThatThrownBy(call).isInstanceOf(type);
        if (facts.length > 0) {
            thrown.has(new Facts(facts));
        }
    }

    @Override
    public boolean matches(Object actual) {
        String text = actual instanceof Throwable thrown ? String.valueOf(thrown.getMessage()) : actual.toString();
        return expected.entrySet().stream()
                .allMatch(fact -> whole(fact.getKey()).matcher(text).results().count() >= fact.getValue());
    }

    private static Pattern whole(String fact) {
        char first = fact.charAt(0);
        char last = fact.charAt(fact.length() - 1);
        String start = (isWord(first) ? "(?<![\\p{L}\\d_])" : "") + (Character.isDigit(first) ? "(?<!\\d[.,])" : "");
        String end = (isWord(last) ? "(?![\\p{L}\\d_])" : "") + (Character.isDigit(last) ? "(?![.,]\\d)" : "");
        String plural = Character.isLetter(last) ? "s?" : "";
        return Pattern.compile(start + Pattern.quote(fact) + plural + end, Pattern.CASE_INSENSITIVE);
    }

    private static boolean isWord(char c) {
        return Character.isLetterOrDigit(c) || c == '_';
    }
}
