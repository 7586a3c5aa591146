package org.gramian.cli;

import java.util.ArrayList;
import java.util.List;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;
import org.gramian.cli.common.CommandHint;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code gramian help COMMAND}: prints the help of a command. */
@Command(
        name = "help",
        mixinStandardHelpOptions = true,
        header = "Show the help of a command.",
        description = "'gramian help train' prints the same text as 'gramian train --help'.")
final class HelpCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Parameters(arity = "0..*", paramLabel = "COMMAND", description = "a command, e.g. train or weights get")
    private List<String> names = new ArrayList<>();

    @Override
    public void run() {
        CommandLine command = spec.root().commandLine();
        for (String name : names) {
            CommandLine next = command.getSubcommands().get(name);
            if (next == null) {
                throw new IllegalArgumentException("expected a command, found " + QuotedText.text(name)
                        + NearestWord.suggestion(name, command.getSubcommands().keySet())
                        + "; all commands: " + CommandHint.of("--help"));
            }
            command = next;
        }
        command.usage(spec.commandLine().getOut());
    }
}
