package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

class HelpTest {
    static Stream<CommandLine> commands() {
        return Main.commandLine().getSubcommands().values().stream();
    }

    @ParameterizedTest
    @MethodSource("commands")
    void noLineThatWasBrokenByHandIsBrokenAgain(CommandLine command) {
        CommandLine.Model.UsageMessageSpec help = command.getCommandSpec().usageMessage();
        List<String> lines = Stream.of(help.header(), help.description(), help.footer())
                .flatMap(Stream::of)
                .filter(Objects::nonNull)
                .toList();
        assertThat(lines).allMatch(line -> line.length() < help.width());
    }
}
