package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.cli.common.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** An option that takes one value is refused when it is given twice, in every command and in groups too. */
class RepeatedOptionsTest {
    /** One for all, as it takes a while to make; whatever is typed next begins anew. */
    private static final CommandLine ROOT = Main.commandLine();

    private static Stream<CommandLine> commands() {
        return commands(ROOT);
    }

    private static Stream<CommandLine> commands(CommandLine line) {
        Collection<CommandLine> below = line.getSubcommands().values();
        return Stream.concat(Stream.of(line), below.stream().flatMap(RepeatedOptionsTest::commands));
    }

    /** The words behind the program's name that lead to a command. */
    private static List<String> path(CommandLine command) {
        String name = command.getCommandSpec().qualifiedName();
        return List.of(name.split(" ", -1)).subList(1, name.split(" ", -1).length);
    }

    /** A value that the parser takes: it looks at numbers, times and words of an enum, and all else is text. */
    private static List<String> typed(OptionSpec option, String name) {
        if (option.arity().max() == 0) {
            return List.of(name);
        }
        Object[] words = option.type().getEnumConstants();
        String number = option.type() == Duration.class ? "1m" : "1";
        return List.of(name + "=" + (words == null ? number : words[0]));
    }

    @ParameterizedTest
    @MethodSource("commands")
    void rejectsRepeatedOption(CommandLine command) {
        for (OptionSpec option : command.getCommandSpec().options()) {
            if (option.isMultiValue() || option.usageHelp() || option.versionHelp()) {
                continue;
            }
            List<String> line = new ArrayList<>(path(command));
            line.addAll(typed(option, option.longestName()));
            command.getCommandSpec().positionalParameters().forEach(_ -> line.add("somewhere"));
            line.addAll(typed(option, option.shortestName()));
            StringWriter err = new StringWriter();
            ROOT.setErr(new PrintWriter(err, true));
            assertThat(ROOT.execute(line.toArray(String[]::new)))
                    .as("%s: %s", line, err)
                    .isEqualTo(ExitCode.USAGE);
            assertThat(err.toString()).contains(option.longestName(), "--help");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"train", "compare"})
    void rejectsRepeatedOptionOfGroup(String command) {
        Run run = Run.of(command, "nowhere", "--epochs=9", "--fine-tune=0", "--batch=8", "--epochs", "1");
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).has(facts(command, "--epochs")).hasLineCount(2);
    }

    @Test
    void acceptsRepeatedListOption() {
        Run run =
                Run.of("train", "nowhere", "--set", "seed=1", "--batch=8", "--set", "stage1.epochs=2", "--fine-tune=0");
        assertThat(run.err()).doesNotContain("once").contains("nowhere");
    }
}
