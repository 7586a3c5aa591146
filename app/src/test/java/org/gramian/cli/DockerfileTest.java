package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Model.CommandSpec;

/** What can be known of the Dockerfile without Docker: that it speaks of files, commands and options that exist. */
class DockerfileTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private static List<String> instructions(String word) throws IOException {
        String joined = Files.readString(ROOT.resolve("Dockerfile")).replaceAll("\\\\\n *", "");
        return joined.lines()
                .filter(line -> line.startsWith(word + " "))
                .map(line -> line.substring(word.length() + 1))
                .toList();
    }

    /** The words of a list in brackets. */
    private static List<String> words(String list) {
        List<String> words = new ArrayList<>();
        Matcher quoted = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"").matcher(list);
        while (quoted.find()) {
            words.add(quoted.group(1));
        }
        return words;
    }

    @Test
    void itContainsTheDistributionAndNothingElse() throws IOException {
        assertThat(instructions("COPY"))
                .containsExactly("target/gramian-*-linux-*.tar.gz /tmp/", "--from=unpack /opt/gramian /opt/gramian");
        assertThat(Files.readAllLines(ROOT.resolve(".dockerignore"))).contains("*", "!target/gramian-*-linux-*.tar.gz");
        assertThat(ROOT.resolve("scripts/build-distribution"))
                .content()
                .contains("name=gramian-$version-$platform\n", "out=$home/target\n", "linux-x86_64", "linux-aarch64");
        assertThat(instructions("RUN").getFirst()).contains("gramian-*-linux-\"$(uname -m)\".tar.gz");
    }

    @Test
    void servesWithExistingOptionsAndToken() throws IOException {
        assertThat(words(instructions("ENTRYPOINT").getFirst())).containsExactly("gramian");
        assertThat(ROOT.resolve("scripts/distribution/gramian"))
                .content()
                .contains("--enable-native-access=ALL-UNNAMED", Main.class.getName());
        List<String> command = words(instructions("CMD").getLast());
        CommandSpec spec = Objects.requireNonNull(
                        Main.commandLine().getSubcommands().get(command.getFirst()))
                .getCommandSpec();
        assertThat(command.getFirst()).isEqualTo("serve");
        assertThat(command).contains("--host", "0.0.0.0").doesNotContain("--no-token", "--token");
        assertThat(command.stream().filter(word -> word.startsWith("-")))
                .allSatisfy(option -> assertThat(spec.findOption(option)).isNotNull());
        String port = command.get(command.indexOf("--port") + 1);
        assertThat(instructions("EXPOSE")).containsExactly(port);
        assertThat(instructions("HEALTHCHECK").getFirst()).contains("/dev/tcp/127.0.0.1/" + port, "GET /health ");
    }

    @Test
    void pinsItsBaseAndDoesNotRunAsRoot() throws IOException {
        assertThat(instructions("FROM"))
                .isNotEmpty()
                .allSatisfy(image -> assertThat(image).containsPattern("@sha256:[0-9a-f]{64}( AS \\w+)?$"));
        assertThat(instructions("USER")).hasSize(1).doesNotContain("root");
    }
}
