package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
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
    void whatItCopiesIsThereAndNotIgnored() throws IOException {
        List<String> ignored = Files.readAllLines(ROOT.resolve(".dockerignore"));
        List<String> sources = instructions("COPY").stream()
                .filter(copy -> !copy.startsWith("--from"))
                .flatMap(copy -> Arrays.stream(copy.split(" ")).limit(copy.split(" ").length - 1L))
                .toList();
        assertThat(sources).contains("gramian", "core", "app").allSatisfy(source -> {
            assertThat(ROOT.resolve(source)).exists();
            assertThat(ignored).doesNotContain(source.replaceFirst("/.*", ""));
        });
        String modules = Files.readString(ROOT.resolve("pom.xml"));
        Matcher module = Pattern.compile("<module>([^<]+)</module>").matcher(modules);
        while (module.find()) {
            assertThat(sources)
                    .as("Maven reads every module")
                    .containsAnyOf(module.group(1), module.group(1) + "/pom.xml");
        }
    }

    @Test
    void theJarsAreThoseOfTheLauncher() throws IOException {
        assertThat(Files.readString(ROOT.resolve("gramian"))).contains("jars=$home/app/target/gramian\n");
        assertThat(instructions("COPY")).contains("--from=build /source/app/target/gramian/*.jar /opt/gramian/");
    }

    @Test
    void itServesWithOptionsThatExistAndOnlyWithAToken() throws IOException {
        assertThat(words(instructions("ENTRYPOINT").getFirst()))
                .contains("--enable-native-access=ALL-UNNAMED")
                .endsWith(Main.class.getName());
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
    void itRunsJavaOfTheRightVersionAndNotAsRoot() throws IOException {
        assertThat(instructions("FROM"))
                .hasSize(2)
                .allSatisfy(image -> assertThat(image).contains("temurin", "25"));
        assertThat(instructions("USER")).hasSize(1).doesNotContain("root");
    }
}
