package org.gramian.cli;

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
}
