package org.gramian.cli.common;

import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.basis.QuotedText;

/** Commands to type next, with the program under the name that it was called by. */
public final class CommandHint {
    /** Set by the launcher to the name that it was called by, e.g. {@code ./gramian}. */
    private static final String VARIABLE = "GRAMIAN_COMMAND";

    private CommandHint() {}

    public static String of(Object... words) {
        return under(Objects.requireNonNullElse(System.getenv(VARIABLE), "gramian"), words);
    }

    /** Replaces quoted commands of a message, as {@code 'gramian weights'}, by lines that can be copied. */
    static String in(String message) {
        return message.replace("'gramian ", "'" + of() + " ");
    }

    /** Returns the line for a program of another name. */
    public static String under(String program, Object... words) {
        return Stream.concat(Stream.of(program), Arrays.stream(words).map(Object::toString))
                .map(QuotedText::argument)
                .collect(Collectors.joining(" "));
    }
}
