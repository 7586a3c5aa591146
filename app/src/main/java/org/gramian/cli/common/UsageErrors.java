package org.gramian.cli.common;

import java.io.PrintWriter;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.gramian.basis.NearestWord;
import org.gramian.run.config.ConfigKey;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.OverwrittenOptionException;
import picocli.CommandLine.ParseResult;

/** Messages about wrong command lines: the error, a suggestion, and how to get help. */
public final class UsageErrors {
    private UsageErrors() {}

    /** Reports a wrong command line; picocli's parameter exception handler. */
    public static int report(CommandLine.ParameterException wrong, String[] arguments) {
        PrintWriter err = wrong.getCommandLine().getErr();
        String command = wrong.getCommandLine().getCommandSpec().qualifiedName();
        err.println(Console.safe(command + ": " + sentence(wrong)));
        err.println(CommandHint.in("try '" + command + " --help'"));
        return ExitCode.USAGE;
    }

    private static String sentence(CommandLine.ParameterException wrong) {
        if (wrong instanceof CommandLine.UnmatchedArgumentException unmatched) {
            return unknown(unmatched);
        }
        String message = Objects.toString(wrong.getMessage());
        return message.isEmpty() ? message : message.substring(0, 1).toLowerCase(Locale.ROOT) + message.substring(1);
    }

    /** Returns the message about an unknown option, command or argument, with the most similar one. */
    private static String unknown(CommandLine.UnmatchedArgumentException wrong) {
        String typed = wrong.getUnmatched().getFirst();
        CommandSpec command = wrong.getCommandLine().getCommandSpec();
        if (typed.startsWith("-")) {
            String name = typed.replaceFirst("=.*", "");
            return "unknown option '" + name + "'"
                    + similar(name, command)
                            .map(other -> "; did you mean '" + other + "'?")
                            .orElse("");
        }
        return command.subcommands().isEmpty()
                ? "unexpected argument '" + typed + "'"
                : "unknown command '" + typed + "'"
                        + NearestWord.suggestion(typed, command.subcommands().keySet());
    }

    /**
     * Returns what to type in place of an unknown option: a key that only {@code --set} reaches, else the shortest option that
     * begins with it, else the nearest spelling.
     */
    private static Optional<String> similar(String typed, CommandSpec command) {
        Set<String> options = command.optionsMap().keySet();
        String suffix = "." + typed.replaceFirst("^--?", "").replace('_', '-');
        return ConfigKey.names().stream()
                .filter(name -> options.contains("--set") && name.endsWith(suffix))
                .findFirst()
                .map(name -> "--set " + name + "=" + ConfigKey.of(name).values())
                .or(() -> options.stream()
                        .filter(name -> typed.matches("--.+") && name.startsWith(typed))
                        .min(Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder())))
                .or(() -> NearestWord.of(typed, options));
    }

    /**
     * Rejects a single-valued option that is given twice, in the given commands, outermost first.
     *
     * <p>picocli does so for options outside groups. For an option in a group it starts a second group and drops every other
     * option of the first: {@code --epochs 9 --fine-tune 0 --epochs 1} would fine-tune.
     */
    static void refuseRepeated(ParseResult parsed) {
        Set<OptionSpec> seen = new HashSet<>();
        for (OptionSpec option : parsed.matchedOptions()) {
            if (!option.isMultiValue() && !seen.add(option)) {
                throw new OverwrittenOptionException(
                        parsed.commandSpec().commandLine(),
                        option,
                        "option '" + option.longestName() + "' should be specified only once");
            }
        }
        if (parsed.hasSubcommand()) {
            refuseRepeated(parsed.subcommand());
        }
    }
}
