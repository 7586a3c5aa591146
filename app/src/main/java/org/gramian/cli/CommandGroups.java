package org.gramian.cli;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.UsageMessageSpec;

/** Lists the commands of {@code gramian --help} by what they are for. */
final class CommandGroups {
    /** A heading and the commands below it. */
    record Group(String title, List<String> commands) {}

    static final List<Group> ALL = List.of(
            new Group("Start", List.of("demo")),
            new Group("Data", List.of("audit", "features")),
            new Group("Train", List.of("train", "evaluate", "compare", "report")),
            new Group("Use", List.of("predict", "nearest", "explain", "embed", "serve", "export", "show")),
            new Group("Research", List.of("methods", "fidelity", "pool", "gradcheck", "bench")),
            new Group("System", List.of("doctor", "backbones", "weights", "cache", "completion", "help")));

    private CommandGroups() {}

    /** Replaces the flat command list in the help of a command line. */
    static void show(CommandLine line) {
        Map<String, CommandLine.IHelpSectionRenderer> sections = line.getHelpSectionMap();
        sections.put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING, _ -> "");
        sections.put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, CommandGroups::text);
    }

    private static String text(Help help) {
        return ALL.stream()
                .map(group -> "%n%s:%n".formatted(group.title)
                        + group.commands.stream()
                                .filter(help.subcommands()::containsKey)
                                .map(name -> "  %-11s %s%n".formatted(name, summary(help, name)))
                                .collect(Collectors.joining()))
                .collect(Collectors.joining());
    }

    private static String summary(Help help, String command) {
        Help found = Objects.requireNonNull(help.subcommands().get(command), command);
        return found.commandSpec().usageMessage().header()[0];
    }
}
