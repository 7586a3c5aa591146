package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands shown in the README, in docs/guide.md and in docs/inspect.md work as shown. */
class ReadmeTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    /** Commands that take long, or do not end, and have tests of their own. */
    private static final Set<String> CHECKS = Set.of("demo", "doctor", "serve");

    @Test
    void everyCommandOfReadmeAndGuideSucceeds(@TempDir Path folder) throws IOException, InterruptedException {
        Files.createSymbolicLink(folder.resolve("docs"), ROOT.resolve("docs"));
        List<String> commands = new ArrayList<>(commands("README.md"));
        assertThat(commands).hasSize(3);
        commands.addAll(commands("docs/guide.md"));
        assertThat(commands).hasSizeGreaterThan(10);
        run(folder, commands);
    }

    @Test
    void everyCommandOfInspectPageSucceeds(@TempDir Path folder) throws IOException, InterruptedException {
        Path textures = ROOT.resolve("docs/examples/textures");
        Path parts = folder.resolve("parts");
        Files.createDirectories(parts.resolve("train"));
        Files.createDirectories(parts.resolve("test"));
        Files.createSymbolicLink(parts.resolve("train/good"), textures.resolve("dotted"));
        Files.createSymbolicLink(parts.resolve("test/good"), textures.resolve("dotted"));
        Files.createSymbolicLink(parts.resolve("test/striped"), textures.resolve("striped"));
        run(folder, commands("docs/inspect.md"));
        assertThat(folder.resolve("run/report.html")).exists();
        assertThat(folder.resolve("overlay.png")).exists();
    }

    private static void run(Path folder, List<String> commands) throws IOException, InterruptedException {
        List<String> lines = commands.stream()
                .map(ReadmeTest::afterTheProgram)
                .filter(ReadmeTest::isRun)
                .toList();
        Process process = new ProcessBuilder(TypedCommands.starting(lines))
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        assertThat(output).doesNotContain("Exception");
        assertThat(output.lines().filter(line -> line.startsWith(TypedCommands.PROMPT)))
                .containsExactlyElementsOf(
                        lines.stream().map(line -> TypedCommands.PROMPT + line).toList());
    }

    /** Whether a command is run; otherwise its options are read only. */
    private static boolean isRun(String line) {
        List<String> words = List.of(line.split(" ", -1));
        boolean run = (Boolean.getBoolean("gramian.full") && !words.getFirst().equals("serve"))
                || !CHECKS.contains(words.getFirst());
        if (!run) {
            Main.commandLine().parseArgs(words.toArray(String[]::new));
        }
        return run;
    }

    private static String afterTheProgram(String command) {
        assertThat(command).startsWith("./gramian ");
        return command.substring("./gramian ".length());
    }

    @Test
    void everyFileThatTheReadmeLinksToExists() throws IOException {
        String text = Files.readString(ROOT.resolve("README.md"));
        List<String> targets = new ArrayList<>();
        Matcher links = Pattern.compile("]\\(([^)#:]+)\\)").matcher(text);
        while (links.find()) {
            targets.add(links.group(1));
        }
        assertThat(targets)
                .isNotEmpty()
                .allSatisfy(target -> assertThat(ROOT.resolve(target)).exists());
    }

    @Test
    void guideLinksEveryPage() throws IOException {
        String guide = Files.readString(ROOT.resolve("docs/guide.md"));
        try (Stream<Path> files = Files.list(ROOT.resolve("docs"))) {
            List<String> pages = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".md") && !name.equals("guide.md"))
                    .toList();
            assertThat(pages)
                    .hasSizeGreaterThan(10)
                    .allSatisfy(page -> assertThat(guide).contains("](" + page));
        }
        assertThat(guide).contains("gramian serve MODEL", "gramian explain MODEL", "gramian export MODEL");
    }

    /** The lines of the blocks marked as shell. */
    private static List<String> commands(String page) throws IOException {
        List<String> commands = new ArrayList<>();
        boolean inside = false;
        for (String line : Files.readAllLines(ROOT.resolve(page))) {
            if (line.startsWith("```")) {
                inside = line.equals("```sh");
            } else if (inside) {
                commands.add(line);
            }
        }
        return commands;
    }
}
