package org.gramian.cli.common;

import static picocli.CommandLine.Model.UsageMessageSpec.SECTION_KEY_FOOTER;
import static picocli.CommandLine.Model.UsageMessageSpec.SECTION_KEY_OPTION_LIST;
import static picocli.CommandLine.Model.UsageMessageSpec.SECTION_KEY_PARAMETER_LIST;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.pooling.Methods;
import org.gramian.pooling.PoolingStage;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.IHelpSectionRenderer;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParseResult;

/**
 * Layout of the help: commands by group, a short {@code --help} beside {@code --help-all} for commands with many options, and
 * lists of values for its end.
 *
 * <p>picocli knows one help option per command, so {@code --help-all} is an ordinary one that {@link #print} answers.
 */
public final class HelpLayout {
    private static final String ALL = "--help-all";

    public record Group(String title, List<String> commands) {}

    public static final List<Group> COMMANDS = List.of(
            new Group("Start", List.of("demo")),
            new Group("Data", List.of("audit")),
            new Group("Train", List.of("train", "extend", "evaluate", "compare", "report")),
            new Group("Use", List.of("predict", "nearest", "explain", "embed", "serve", "export", "show")),
            new Group("Research", List.of("methods")),
            new Group("System", List.of("doctor", "backbones", "weights", "cache", "completion", "help")));

    private HelpLayout() {}

    /** Replaces the flat command list in the help of a command line. */
    public static void groupCommands(CommandLine line) {
        Map<String, CommandLine.IHelpSectionRenderer> sections = line.getHelpSectionMap();
        sections.put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING, _ -> "");
        sections.put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, HelpLayout::commands);
    }

    private static String commands(Help help) {
        return COMMANDS.stream()
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

    /** Shortens the help of a command and adds {@code --help-all} to it. */
    public static void shorten(CommandLine command, String arguments, String common) {
        String name = command.getCommandSpec().qualifiedName();
        command.getCommandSpec()
                .addOption(OptionSpec.builder(ALL)
                        .type(boolean.class)
                        .description("show all options and configuration keys")
                        .build());
        command.getCommandSpec().usageMessage().customSynopsis(name + " " + arguments);
        replace(command, SECTION_KEY_PARAMETER_LIST, HelpLayout::parameters);
        replace(command, SECTION_KEY_OPTION_LIST, help -> options(help, common.split(" ", -1)));
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
            append(text, parameter.paramLabel(), parameter);
        }
        return text.toString();
    }

    private static String options(Help help, String[] common) {
        StringBuilder text = new StringBuilder();
        for (String name : common) {
            OptionSpec option = Objects.requireNonNull(help.commandSpec().findOption(name), name);
            append(text, name + (option.arity().max() > 0 ? " " + option.paramLabel() : ""), option);
        }
        return text.toString();
    }

    private static void append(StringBuilder text, String left, ArgSpec argument) {
        String description = argument.description()[0];
        text.append(
                "  %-22s %s%n".formatted(left, description.replace("${DEFAULT-VALUE}", argument.defaultValueString())));
    }

    public static String layouts() {
        StringBuilder text = new StringBuilder("\nLayouts:\n");
        for (Layouts.Description layout : Layouts.all()) {
            String form = layout.form();
            text.append("  %-15s %s\n".formatted(layout.name(), layout.looks()));
            if (!form.equals(layout.name())) {
                text.append("  %-15s   syntax: %s\n".formatted("", form));
            }
        }
        return text.toString();
    }

    public static String protocols() {
        StringBuilder text = new StringBuilder("\nProtocols:\n");
        for (Protocol.Description protocol : Protocol.all()) {
            text.append("  %s\n      %s\n".formatted(protocol.form(), protocol.meaning()));
        }
        return text.toString();
    }

    public static String crops() {
        StringBuilder text = new StringBuilder("\nCrops, syntax NAME[:SIZE][+flips]:\n");
        for (String name : CropPlan.names()) {
            CropPlan plan = CropPlan.parse(name);
            text.append("  %-15s %s; %d per training image, %d per test image\n"
                    .formatted(
                            name,
                            meaning(plan.kind()),
                            plan.training(0).count(),
                            plan.testing().count()));
        }
        return text.append("  %-15s each crop also mirrored\n".formatted("+flips"))
                .toString();
    }

    public static String stages() {
        StringBuilder text = new StringBuilder("\nStages of --pooling:\n");
        for (PoolingStage.Syntax word : PoolingStage.all()) {
            text.append("  %-22s %s\n".formatted(word.name(), word.meaning()));
            if (!word.form().equals(word.name())) {
                text.append("      syntax: %s\n".formatted(word.form()));
            }
        }
        text.append("\nMethods:\n");
        Methods.all().forEach(method -> text.append("  %-22s %s\n".formatted(method.name(), method.pooling())));
        return text.toString();
    }

    private static String meaning(CropPlan.Kind kind) {
        return switch (kind) {
            case PAPER -> "center, four corners, and random crops for training";
            case CENTER -> "center";
            case TEN -> "center and four corners, each also mirrored";
            case RESIZE -> "the whole image, resized to a square";
        };
    }
}
