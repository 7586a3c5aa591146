package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every command line shown in the documentation is one that the program takes: its options exist and their values parse. */
class DocsCommandsTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|'([^']*)'|(\\S+)");

    static List<Path> pages() throws IOException {
        try (Stream<Path> docs = Files.list(ROOT.resolve("docs"))) {
            return Stream.concat(
                            Stream.of(ROOT.resolve("README.md"), ROOT.resolve("examples/README.md")), docs.sorted())
                    .filter(file -> file.toString().endsWith(".md"))
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("pages")
    void everyShownCommandParses(Path page) throws IOException {
        for (String command : commands(Files.readString(page))) {
            String[] words = words(command);
            assertThatCode(() -> Main.commandLine().parseArgs(words))
                    .as("%s: ./gramian %s", page.getFileName(), command)
                    .doesNotThrowAnyException();
        }
    }

    @Test
    void findsCommandsOfAllKinds() throws IOException {
        List<String> all = new ArrayList<>();
        for (Path page : pages()) {
            all.addAll(commands(Files.readString(page)));
        }
        assertThat(all)
                .hasSizeGreaterThan(100)
                .anyMatch(command -> command.startsWith("serve "))
                .anyMatch(command -> command.contains("--json"));
    }

    /** The command lines of shell blocks and of sessions, continued lines joined, without comments, pipes and redirections. */
    private static List<String> commands(String page) {
        List<String> commands = new ArrayList<>();
        boolean inside = false;
        for (String line : page.replace("\\\n", " ").lines().toList()) {
            if (line.strip().startsWith("```")) {
                inside = !inside;
            } else if (inside && line.strip().matches("(\\$ )?\\./gramian [a-z].*")) {
                String command = line.strip().replaceFirst("^(\\$ )?\\./gramian ", "");
                command = command.split("\\s+#|\\s*[|;&>]\\s|\\s>", 2)[0];
                if (!command.startsWith("spark ") && !command.contains("...")) {
                    commands.add(command);
                }
            }
        }
        return commands;
    }

    private static String[] words(String command) {
        List<String> words = new ArrayList<>();
        Matcher matcher = WORD.matcher(command);
        while (matcher.find()) {
            words.add(Stream.of(1, 2, 3)
                    .map(matcher::group)
                    .filter(Objects::nonNull)
                    .findFirst()
                    .orElseThrow());
        }
        return words.toArray(String[]::new);
    }
}
