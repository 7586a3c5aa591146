package org.gramian.cli.common;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** A command with the options of the console and of help. */
@Command(mixinStandardHelpOptions = true)
public abstract class ConsoleCommand implements Callable<Integer> {
    @Mixin
    protected final Console console = new Console();
}
