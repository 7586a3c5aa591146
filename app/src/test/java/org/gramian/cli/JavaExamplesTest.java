package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Java that the README shows is Java that compiles. */
class JavaExamplesTest {
    private static final Path README = Path.of("..", "README.md");

    /** Packages whose types a reader's editor would import. */
    private static final List<String> IMPORTED = List.of(
            "java.nio.file",
            "java.util",
            "org.gramian.autodiff",
            "org.gramian.evaluate",
            "org.gramian.image.dataset",
            "org.gramian.image.dataset.layout",
            "org.gramian.model",
            "org.gramian.pooling",
            "org.gramian.run",
            "org.gramian.run.config",
            "org.gramian.tensor");

    @Test
    void everyJavaExampleOfTheReadmeCompiles(@TempDir Path classes) throws IOException {
        List<String> examples = examples();
        assertThat(examples).hasSizeGreaterThan(2);
        for (String example : examples) {
            assertThat(errors(example, classes)).as(example).isEmpty();
        }
    }

    @Test
    void anExampleOfSomethingThatIsNotThereDoesNotCompile(@TempDir Path classes) {
        assertThat(errors("Classifier.open(Path.of(\"model.safetensors\"));", classes))
                .contains("open");
    }

    /** The blocks marked as Java. */
    private static List<String> examples() throws IOException {
        List<String> examples = new ArrayList<>();
        List<String> block = new ArrayList<>();
        boolean inside = false;
        for (String line : Files.readAllLines(README)) {
            if (line.startsWith("```")) {
                if (inside) {
                    examples.add(String.join("\n", block));
                }
                block.clear();
                inside = line.equals("```java");
            } else if (inside) {
                block.add(line);
            }
        }
        return examples;
    }

    /** What the compiler says of some statements, to which features of the reader's own are given. */
    private static String errors(String statements, Path classes) {
        String imports =
                IMPORTED.stream().map(name -> "import " + name + ".*;\n").collect(Collectors.joining());
        String source = imports + "class Example { static void example(Tensor features) throws Exception {\n"
                + statements + "\n} }\n";
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        List<String> options = List.of(
                "-d",
                classes.toString(),
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
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
