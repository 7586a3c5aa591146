package org.gramian.spark.cli;

import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Where a command writes: results to standard output, sentences about its work to standard error. */
@Command // a mixin without options needs it
final class Console {
    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec command;

    PrintWriter out() {
        return command.commandLine().getOut();
    }

    /** Says a sentence, at once, under the command's name. */
    synchronized void say(String sentence) {
        PrintWriter err = command.commandLine().getErr();
        err.println(command.qualifiedName() + ": " + sentence);
        err.flush();
    }

    /** Returns the name of the program in Spark's pages. */
    String name() {
        return command.qualifiedName();
    }
}
