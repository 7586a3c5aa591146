package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program that is a Java module trains and predicts through the exported packages alone. */
class ModulePathTest {
    private static final String PROGRAM = """
            package example;

            import java.nio.file.Path;
            import org.gramian.Trainer;
            import org.gramian.TrainingReport;
            import org.gramian.model.Classifier;
            import org.gramian.tensor.Device;

            public class Example {
                public static void main(String[] arguments) throws Exception {
                    Path images = Path.of(arguments[0]);
                    TrainingReport report = Trainer.on(images)
                            .backbone("filters")
                            .set("data.crops", "center:16")
                            .epochs(1)
                            .device(Device.CPU)
                            .weights(images.resolveSibling("weights"))
                            .withoutCache()
                            .train(images.resolveSibling("run"));
                    try (Classifier classifier = report.classifier()) {
                        System.out.println("class " + classifier.predict(Path.of(arguments[1])).className());
                    }
                }
            }
            """;

    @TempDir
    private Path folder = Path.of("");

    @Test
    void aModuleTrainsAndPredicts() throws IOException, InterruptedException {
        ImageFolder images = ImageFolder.tiny(folder.resolve("images"));
        ModulePath path = ModulePath.ofTests();
        Path source = Files.createDirectories(folder.resolve("source"));
        Path classes = folder.resolve("classes");
        Path module =
                Files.writeString(source.resolve("module-info.java"), "module example { requires org.gramian.core; }");
        Path program = Files.writeString(source.resolve("Example.java"), PROGRAM);
        assertThat(ToolProvider.getSystemJavaCompiler()
                        .run(
                                null,
                                null,
                                null,
                                "-d",
                                classes.toString(),
                                "-p",
                                ModulePath.text(path.modules()),
                                module.toString(),
                                program.toString()))
                .isZero();
        Path log = folder.resolve("log");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "--enable-native-access=org.gramian.core,ALL-UNNAMED",
                        "-p",
                        ModulePath.text(path.modules()) + File.pathSeparator + classes,
                        "-cp",
                        ModulePath.text(path.classPath()),
                        "-m",
                        "example/example.Example",
                        images.root().toString(),
                        images.root().resolve("paper/1.bmp").toString())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.exitValue()).as(Files.readString(log)).isZero();
        assertThat(Files.readString(log)).contains("class ");
    }

    @Test
    void internalPackagesAreNotExported() {
        ModuleDescriptor core = ModuleFinder.of(ModulePath.ofTests().modules().toArray(Path[]::new))
                .find("org.gramian.core")
                .orElseThrow()
                .descriptor();
        List<String> exported = core.exports().stream()
                .filter(one -> !one.isQualified())
                .map(ModuleDescriptor.Exports::source)
                .toList();
        assertThat(exported)
                .contains("org.gramian", "org.gramian.model", "org.gramian.pooling")
                .doesNotContain("org.gramian.basis", "org.gramian.run", "org.gramian.train.loop");
    }
}
