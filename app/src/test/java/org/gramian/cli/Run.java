package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/**
 * One command run inside the test's process.
 *
 * @param code exit code
 * @param out standard output
 * @param err standard error
 */
public record Run(int code, String out, String err) {
    public static Run of(Object... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = Main.commandLine().setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        String[] texts = new String[arguments.length];
        for (int i = 0; i < texts.length; i++) {
            texts[i] = arguments[i].toString();
        }
        int code = line.execute(texts);
        return new Run(code, out.toString(), err.toString());
    }

    /** Requires exit code 0. */
    public Run done() {
        assertThat(code).as(err).isZero();
        return this;
    }

    /** Requires an exit code and facts in the message. */
    public void failed(int expected, Object... facts) {
        assertThat(code).as(err).isEqualTo(expected);
        assertThat(err).has(facts(facts)).doesNotContain("\tat ");
    }

    /** Requires an exit code, one line with facts, and no results. */
    public void refused(int expected, Object... facts) {
        failed(expected, facts);
        assertThat(err).hasLineCount(1).doesNotContain("Exception");
        assertThat(out).isEmpty();
    }
}
