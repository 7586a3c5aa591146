package org.gramian.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The program {@code gramian}: its commands hang below this one. */
@Command(
        name = "gramian",
        mixinStandardHelpOptions = true,
        version = "gramian 0.1.0-SNAPSHOT",
        description = "Second-order image classification.",
        synopsisSubcommandLabel = "COMMAND")
public final class Main {
    private Main() {}

    /** Runs one command and ends the process with its exit code: 0 done, 1 failed, 2 wrong usage. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Main()).execute(arguments));
    }
}
