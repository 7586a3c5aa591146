package org.gramian.cli;

import java.util.HashSet;
import java.util.Set;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.OverwrittenOptionException;
import picocli.CommandLine.ParseResult;

/**
 * Rejects a single-valued option that is given twice.
 *
 * <p>picocli does so for options outside groups. For an option in a group it starts a second group and drops every other option
 * of the first: {@code --epochs 9 --fine-tune 0 --epochs 1} would fine-tune.
 */
final class RepeatedOptions {
    private RepeatedOptions() {}

    /** Checks the given commands, outermost first. */
    static void refuse(ParseResult parsed) {
        Set<OptionSpec> seen = new HashSet<>();
        for (OptionSpec option : parsed.matchedOptions()) {
            if (!option.isMultiValue() && !seen.add(option)) {
                throw new OverwrittenOptionException(parsed.commandSpec().commandLine(), option, sentence(option));
            }
        }
        if (parsed.hasSubcommand()) {
            refuse(parsed.subcommand());
        }
    }

    /** Returns the message, with all names of the option. */
    static String sentence(OptionSpec option) {
        return "expected " + String.join(" or ", option.names()) + " once, found it several times; remove all but one";
    }
}
