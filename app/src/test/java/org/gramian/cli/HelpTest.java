package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.HelpLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class HelpTest {
    static Stream<CommandLine> commands() {
        return Main.commandLine().getSubcommands().values().stream();
    }

    @ParameterizedTest
    @MethodSource("commands")
    void helpLinesFitTheWidth(CommandLine command) {
        CommandLine.Model.UsageMessageSpec help = command.getCommandSpec().usageMessage();
        List<String> lines = Stream.of(help.header(), help.description(), help.footer())
                .flatMap(Stream::of)
                .filter(Objects::nonNull)
                .flatMap(String::lines)
                .toList();
        assertThat(lines).allMatch(line -> line.length() < help.width());
    }

    @ParameterizedTest
    @MethodSource("commands")
    void commandAloneHasTheHelpThatItHasAmongAll(CommandLine command) {
        String name = command.getCommandName();
        CommandLine alone = Main.commandLineFor(name, "--help");
        assertThat(alone.getSubcommands())
                .hasSize(
                        name.matches("help|completion")
                                ? HelpTest.commands().toList().size()
                                : 1);
        assertThat(alone.getSubcommands().get(name).getUsageMessage()).isEqualTo(command.getUsageMessage());
    }

    @Test
    void everyCommandIsInOneGroup() {
        CommandLine root = Main.commandLine();
        assertThat(HelpLayout.COMMANDS.stream().flatMap(group -> group.commands().stream()))
                .doesNotHaveDuplicates()
                .containsAll(root.getSubcommands().keySet());
        String help = Run.of("--help").out();
        HelpLayout.COMMANDS.forEach(group -> assertThat(help).contains(group.title() + ":"));
        assertThat(help.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThan(110));
        assertThat(help.lines().filter(line -> line.matches("  [a-z]+ .*")))
                .hasSameSizeAs(root.getSubcommands().keySet())
                .allSatisfy(line -> assertThat(line).hasSizeLessThan(84));
    }

    @Test
    void helpCommandEqualsHelpOption() {
        assertThat(Run.of("help", "audit").out())
                .isEqualTo(Run.of("audit", "--help").out());
        assertThat(Run.of("help").out()).isEqualTo(Run.of("--help").out());
        Run.of("help", "trian").failed(ExitCode.USAGE, "'trian'", "gramian --help");
    }

    @Test
    void completionKnowsCommandsAndOptions() {
        Run run = Run.of("completion").done();
        assertThat(run.out()).contains("gramian", "weights", "import", "backbone-rate", "dry-run");
    }

    @ParameterizedTest
    @ValueSource(strings = {"train", "compare"})
    void longHelpIsShortByDefault(String command) {
        String brief = Run.of(command, "--help").out();
        assertThat(brief.lines())
                .hasSizeLessThan(30)
                .allSatisfy(line -> assertThat(line).hasSizeLessThan(120));
        assertThat(brief).contains("--backbone NAME", "--help-all").doesNotContain("--cutmix", "stiefel.metric");
        assertThat(Run.of("help", command).out()).isEqualTo(brief);
        assertThat(Run.of(command, "--help-all").out())
                .contains("--cutmix", "stiefel.metric", "Exit codes", "--learning-rate", "kth-1v3");
    }
}
