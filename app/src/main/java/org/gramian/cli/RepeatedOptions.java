package org.gramian.cli;

import java.util.HashSet;
import java.util.Set;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.OverwrittenOptionException;
import picocli.CommandLine.ParseResult;

/**
 * Refuses an option that takes one value and was given two.
 *
 * <p>picocli refuses it by itself where the option stands alone. Of an option in a group it takes the second for the beginning of another
 * group, and forgets every other option of the first: {@code --epochs 9 --fine-tune 0 --epochs 1} would fine-tune.
 */
final class RepeatedOptions {
    private RepeatedOptions() {}

    /** Looks through the commands that were typed, outermost first. */
    static void refuse(ParseResult parsed) {
        Set<OptionSpec> seen = new HashSet<>();
        for (OptionSpec option : parsed.matchedOptions()) {
            if (!option.isMultiValue() && !seen.add(option)) {
                throw new OverwrittenOptionException(
                        parsed.commandSpec().commandLine(), option, sentence(option.longestName()));
            }
        }
        if (parsed.hasSubcommand()) {
            refuse(parsed.subcommand());
        }
    }

    /** What is said of it, by whichever of the two it is found. */
    static String sentence(String name) {
        return "expected " + name + " once, found it more often; leave out all but one";
    }
}
