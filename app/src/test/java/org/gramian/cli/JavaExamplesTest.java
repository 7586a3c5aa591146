package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Java examples of the README and of docs/java.md compile with the imports that they show, against exported packages only. */
class JavaExamplesTest {
    private static final List<Path> PAGES = List.of(Path.of("..", "README.md"), Path.of("..", "docs", "java.md"));
    private static final Pattern BLOCK = Pattern.compile("(?s)```java\n(.*?)```");

    @Test
    void everyJavaExampleCompiles(@TempDir Path classes) throws IOException {
        List<String> examples = examples();
        assertThat(examples).hasSizeGreaterThan(4);
        for (String example : examples) {
            assertThat(errors(example, classes)).as(example).isEmpty();
        }
    }

    /** The blocks marked as Java. */
    private static List<String> examples() throws IOException {
        List<String> examples = new ArrayList<>();
        for (Path page : PAGES) {
            Matcher blocks = BLOCK.matcher(Files.readString(page));
            while (blocks.find()) {
                examples.add(blocks.group(1));
            }
        }
        return examples;
    }

    /** Errors of the compiler for imports and statements; {@code features} is a tensor of the reader. */
    private static String errors(String example, Path classes) {
        Map<Boolean, List<String>> lines =
                example.lines().collect(Collectors.partitioningBy(line -> line.startsWith("import ")));
        String source = String.join("\n", lines.get(true))
                + "\nclass Example { static void example(org.gramian.tensor.Tensor features) throws Exception {\n"
                + String.join("\n", lines.get(false)) + "\n} }\n";
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        List<String> options = List.of(
                "-d",
                classes.toString(),
                "-p",
                ModulePath.text(ModulePath.ofTests().modules()),
                "--add-modules",
                "org.gramian.core");
        compiler.getTask(null, null, found, options, null, List.of(new Source(source)))
                .call();
        return found.getDiagnostics().stream()
                .filter(one -> one.getKind() == Diagnostic.Kind.ERROR)
                .map(one -> one.getMessage(null))
                .collect(Collectors.joining("\n"));
    }

    /** A file that is only here. */
    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String text) {
            super(URI.create("string:///Example.java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }
}
