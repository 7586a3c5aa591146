package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page that shows how a method is added is right: its file and its registrations compile, and its programs run. */
class AddingAMethodTest {
    private static final Path PAGE = Path.of("..", "docs", "adding-a-method.md");
    private static final Path POOLING = Path.of("..", "core", "src", "main", "java", "org", "gramian", "pooling");
    private static final Path METHODS =
            Path.of("..", "core", "src", "main", "resources", "org", "gramian", "pooling", "methods.csv");
    private static final Pattern BLOCK = Pattern.compile("(?s)```java\n// (\\S+)\n(.*?)```");
    private static final Pattern REGISTRATION =
            Pattern.compile("(?m)^\\| `(\\w+\\.java)` \\| `([^`]+)` \\| `([^`]+)` \\|$");
    private static final Pattern METHOD =
            Pattern.compile("(?m)^\\| `methods\\.csv` \\| the last line \\| `([^`]+)` \\|$");
    private static final String CLASS_PATH =
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));

    @Test
    void methodOfThePageTrainsAModel(@TempDir Path folder) throws IOException, InterruptedException {
        String page = Files.readString(PAGE);
        Map<String, String> sources = new LinkedHashMap<>(registered(page));
        assertThat(sources).hasSize(2);
        Matcher blocks = BLOCK.matcher(page);
        while (blocks.find()) {
            sources.put(blocks.group(1), blocks.group(2));
        }
        assertThat(sources).containsKeys("StandardDeviation.java", "Example.java", "OwnProgram.java");
        Path classes = compile(sources, folder);
        Matcher method = METHOD.matcher(page);
        assertThat(method.find()).isTrue();
        Files.writeString(
                Files.createDirectories(classes.resolve("org/gramian/pooling")).resolve("methods.csv"),
                Files.readString(METHODS) + method.group(1) + "\n");

        assertThat(run(classes, "-ea", "Example")).contains("[2, 8]", "[2, 3]");
        assertThat(run(classes, "-ea", "OwnProgram")).contains("[true, 2]");
        assertThat(run(classes, Main.class.getName(), "methods", "std"))
                .containsPattern("pooling +std/l2")
                .containsPattern("descriptor +512")
                .containsPattern("std +\\w+");
    }

    /** The sources of the program in which the page registers its method, with the registrations made. */
    private static Map<String, String> registered(String page) throws IOException {
        Map<String, String> changed = new LinkedHashMap<>();
        Matcher rows = REGISTRATION.matcher(page);
        while (rows.find()) {
            String source = Files.readString(POOLING.resolve(rows.group(1)));
            assertThat(source.split(Pattern.quote(rows.group(2)), -1))
                    .as(rows.group(1) + " has one place of '" + rows.group(2) + "', as the page says")
                    .hasSize(2);
            changed.put(rows.group(1), source.replace(rows.group(2), rows.group(2) + rows.group(3)));
        }
        return changed;
    }

    private static Path compile(Map<String, String> sources, Path folder) throws IOException {
        Path classes = Files.createDirectories(folder.resolve("classes"));
        List<String> arguments = new ArrayList<>(List.of("-d", classes.toString(), "-cp", CLASS_PATH, "-proc:none"));
        for (Map.Entry<String, String> source : sources.entrySet()) {
            arguments.add(Files.writeString(folder.resolve(source.getKey()), source.getValue())
                    .toString());
        }
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        int code = ToolProvider.getSystemJavaCompiler().run(null, said, said, arguments.toArray(String[]::new));
        assertThat(code).as(said.toString(StandardCharsets.UTF_8)).isZero();
        return classes;
    }

    /** What a program says that finds the compiled classes before those of this build. */
    private static String run(Path classes, String... words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                classes + File.pathSeparator + CLASS_PATH));
        command.addAll(List.of(words));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).as(said).isZero();
        return said;
    }
}
