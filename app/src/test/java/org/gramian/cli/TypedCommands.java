package org.gramian.cli;

import java.util.ArrayList;
import java.util.List;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.Failures;
import org.gramian.cli.train.DemoCommand;
import org.gramian.demo.TextureSet;
import picocli.CommandLine;

/**
 * A process that runs commands one after the other in its folder, as if they were typed there, and ends with the first that fails:
 * a start of the program for each of many commands takes longer than what they do.
 */
public final class TypedCommands {
    /** Before each command, as a shell shows it. */
    public static final String PROMPT = "$ gramian ";

    private static final TextureSet SHORT = new TextureSet(4, 64, 0);

    private TypedCommands() {}

    /** What starts them, each line the words after the program's name. */
    public static List<String> starting(List<String> lines) {
        List<String> command = new ArrayList<>(Program.java(TypedCommands.class));
        command.addAll(lines);
        return command;
    }

    /** The program, with a demo of another size. */
    public static CommandLine commandLine(TextureSet size) {
        CommandLine line = Main.commandLine();
        line.getCommandSpec().removeSubcommand("demo");
        return line.addSubcommand("demo", new CommandLine(new DemoCommand(size)))
                .setExecutionStrategy(Failures::run)
                .setExecutionExceptionHandler(Failures::report);
    }

    /** Runs each; the demo with all its images among the heavy tests only. */
    public static void main(String[] lines) {
        boolean full = Boolean.getBoolean("gramian.full");
        for (String line : lines) {
            System.out.println(PROMPT + line);
            int code = (full ? Main.commandLine() : commandLine(SHORT)).execute(line.split(" ", -1));
            if (code != ExitCode.DONE) {
                System.exit(code);
            }
        }
    }
}
