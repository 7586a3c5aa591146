package org.gramian.cli;

import static picocli.CommandLine.Model.UsageMessageSpec.SECTION_KEY_FOOTER;
import static picocli.CommandLine.Model.UsageMessageSpec.SECTION_KEY_OPTION_LIST;
import static picocli.CommandLine.Model.UsageMessageSpec.SECTION_KEY_PARAMETER_LIST;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.IHelpSectionRenderer;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/**
 * Splits the help of a command with many options: {@code --help} shows the common ones, {@code --help-all} everything.
 *
 * <p>picocli knows one help option per command, so {@code --help-all} is an ordinary one that {@link #print} answers.
 */
final class BriefHelp {
    private static final String ALL = "--help-all";

    private BriefHelp() {}

    /**
     * Shortens the help of a command and adds {@code --help-all} to it.
     *
     * @param arguments behind the command's name in the synopsis
     * @param common names of the options to show, in this order
     */
    static void install(CommandLine command, String arguments, List<String> common) {
        String name = command.getCommandSpec().qualifiedName();
        command.getCommandSpec()
                .addOption(OptionSpec.builder(ALL)
                        .type(boolean.class)
                        .description("show all options and configuration keys")
                        .build());
        command.getCommandSpec().usageMessage().customSynopsis(name + " " + arguments);
        replace(command, SECTION_KEY_PARAMETER_LIST, BriefHelp::parameters);
        replace(command, SECTION_KEY_OPTION_LIST, help -> options(help, common));
        replace(
                command,
                SECTION_KEY_FOOTER,
                _ -> "%nAll options, configuration keys, crops, splits and layouts: %s %s%n".formatted(name, ALL));
    }

    /** Prints the whole help if {@code --help-all} is given, and returns whether it is. */
    static boolean print(ParseResult parsed) {
        if (!parsed.hasMatchedOption(ALL)) {
            return false;
        }
        CommandLine command = parsed.commandSpec().commandLine();
        command.usage(command.getOut());
        return true;
    }

    private static void replace(CommandLine command, String section, IHelpSectionRenderer brief) {
        Map<String, IHelpSectionRenderer> sections = command.getHelpSectionMap();
        IHelpSectionRenderer whole = Objects.requireNonNull(sections.get(section), section);
        sections.put(section, help -> (all(help) ? whole : brief).render(help));
    }

    private static boolean all(Help help) {
        return Boolean.TRUE.equals(help.commandSpec().findOption(ALL).getValue());
    }

    private static String parameters(Help help) {
        StringBuilder text = new StringBuilder();
        for (PositionalParamSpec parameter : help.commandSpec().positionalParameters()) {
            append(text, parameter.paramLabel(), parameter.description());
        }
        return text.toString();
    }

    private static String options(Help help, List<String> common) {
        StringBuilder text = new StringBuilder();
        for (String name : common) {
            OptionSpec option = Objects.requireNonNull(help.commandSpec().findOption(name), name);
            append(text, name + (option.arity().max() > 0 ? " " + option.paramLabel() : ""), option.description());
        }
        return text.toString();
    }

    private static void append(StringBuilder text, String left, String[] description) {
        text.append("  %-22s %s%n".formatted(left, description[0].replace("${DEFAULT-VALUE}", "auto")));
    }
}
