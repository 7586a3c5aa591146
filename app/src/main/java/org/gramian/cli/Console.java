package org.gramian.cli;

import java.io.PrintWriter;
import java.util.function.Consumer;
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
    void say(String sentence) {
        PrintWriter err = command.commandLine().getErr();
        err.println(command.qualifiedName() + ": " + sentence);
        err.flush();
    }

    /** Says what is wrong with a picture, unless its line on this terminal says so already. */
    Consumer<String> complaints() {
        return Terminal.isStandardOutput() ? _ -> {} : this::say;
    }

    /** Shows how far a task of so many steps is. */
    Progress progress(String task, long steps) {
        return Progress.of(task, steps, command.commandLine().getErr());
    }
}
