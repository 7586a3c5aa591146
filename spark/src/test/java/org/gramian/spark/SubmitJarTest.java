package org.gramian.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.gramian.spark.cli.SparkMain;
import org.gramian.spark.testing.Await;
import org.gramian.spark.testing.LoadedPipeline;
import org.gramian.spark.testing.LocalSpark;
import org.gramian.spark.testing.OneMachine;
import org.gramian.spark.testing.SmallModel;
import org.gramian.spark.testing.SparkHome;
import org.gramian.spark.testing.Stripes;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The jar for {@code spark-submit}; Maven runs this once the jar is made. */
class SubmitJarTest {
    private static final Path JAR = Path.of(System.getProperty("gramian.spark.submit", "none"));

    @TempDir
    private Path folder;

    @BeforeEach
    void made() {
        assumeTrue(Files.exists(JAR), "skipped: the jar is made by mvn package, which runs this again");
    }

    @Test
    void jarContainsNeitherSparkNorNativeLibraries() throws IOException {
        try (JarFile jar = new JarFile(JAR.toFile())) {
            List<String> names = jar.stream().map(JarEntry::getName).toList();
            assertThat(names)
                    .contains("org/gramian/spark/GramianModel.class", "org/gramian/model/Model.class")
                    .noneMatch(name -> name.matches("(org/apache/(spark|hadoop)|scala|org/slf4j|ch/qos|tools/jackson"
                            + "|com/fasterxml|com/google|com/luciad|kotlin|org/snakeyaml|org/junit)/.*"))
                    .noneMatch(name -> name.matches(".*\\.(so|dylib|dll)(\\..*)?"));
            assertThat(jar.size()).as("entries").isEqualTo((int)
                    names.stream().distinct().count());
        }
    }

    @Test
    @EnabledIfSystemProperty(named = "gramian.full", matches = "true")
    void pipelineLoadedInAnotherJvmPredictsTheSame() throws IOException, InterruptedException {
        Path file = SmallModel.write(folder.resolve("model.safetensors"), SmallModel.SEED);
        List<Path> images = SmallModel.images(folder.resolve("images"), 30, 7);
        String saved = folder.resolve("pipeline").toString();
        String table = folder.resolve("table").toString();
        String out = folder.resolve("out").toString();
        try (SparkSession spark = LocalSpark.session()) {
            Dataset<Row> paths = spark.createDataset(
                            images.stream().map(Path::toString).toList(), Encoders.STRING())
                    .toDF("path");
            paths.write().parquet(table);
            new Pipeline()
                    .setStages(new PipelineStage[] {
                        GramianModel.fromFile(file.toString()).setInputCol("path")
                    })
                    .fit(paths)
                    .save(saved);

            submit(LoadedPipeline.class.getName(), jarOf(LoadedPipeline.class), List.of(saved, table, out), 0);

            OneMachine.assertSame(spark.read().parquet(out).collectAsList(), OneMachine.predict(file, images));
        }
    }

    /** The Scala of the documentation, compiled into the program that the documentation submits. */
    @Test
    @EnabledIfSystemProperty(named = "gramian.full", matches = "true")
    void scalaOfTheDocumentationCompilesAndRuns() throws IOException, InterruptedException {
        Path file = SmallModel.write(folder.resolve("model.safetensors"), SmallModel.SEED);
        List<Path> images = SmallModel.images(folder.resolve("images"), 6, 4);
        String table = folder.resolve("table").toString();
        try (SparkSession spark = LocalSpark.session()) {
            spark.createDataset(images.stream().map(Path::toString).toList(), Encoders.STRING())
                    .toDF("path")
                    .write()
                    .parquet(table);
        }
        String documentation = Files.readString(Path.of("..", "docs", "spark.md"));
        int start = documentation.indexOf("```scala") + "```scala".length();
        String scala = documentation
                .substring(start, documentation.indexOf("```", start))
                .replace("hdfs:///models/model.safetensors", file.toString())
                .replace("hdfs:///paths", table);
        assertThat(scala).contains("GramianModel").doesNotContain("hdfs:");

        submit("Shown", compiled("""
            object Shown {
              def main(arguments: Array[String]): Unit = {
                val spark = org.apache.spark.sql.SparkSession.builder().getOrCreate()
            %s
                spark.stop()
              }
            }
            """.formatted(scala)), List.of(), 0);

        assertThat(folder.resolve("submit.log")).content().contains("|predictedClass|count|");
    }

    /** A jar of a Scala program. */
    private Path compiled(String source) throws IOException {
        Path text = Files.writeString(folder.resolve("Shown.scala"), source);
        Path jar = folder.resolve("shown.jar");
        scala.tools.nsc.Main.process(
                new String[] {"-classpath", System.getProperty("java.class.path"), "-d", jar.toString(), text.toString()
                });
        assertThat(jar).as("see what the compiler said of %s", source).exists();
        return jar;
    }

    /** As {@code ./gramian spark} does it. */
    @Test
    void commandsRunFromTheJarWithExitCodes() throws IOException, InterruptedException {
        Path file = SmallModel.write(folder.resolve("model.safetensors"), SmallModel.SEED);
        SmallModel.images(folder.resolve("images"), 8, 4);
        Path out = folder.resolve("predictions");

        submit(
                SparkMain.class.getName(),
                JAR,
                List.of("predict", file.toString(), folder.resolve("images").toString(), "--out", out.toString()),
                3);

        assertThat(out.resolve("_SUCCESS")).exists();
        assertThat(folder.resolve("submit.log"))
                .content()
                .containsPattern("predictions: 8\\b")
                .containsPattern("\\b2 of ");
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    @EnabledIfSystemProperty(named = "gramian.full", matches = "true")
    void interruptedTrainingLeavesNoOutput() throws Exception {
        for (String name : List.of("a", "b")) {
            Stripes.write(folder.resolve("classes").resolve(name), 150);
        }
        Path run = folder.resolve("run");
        String images = folder.resolve("classes").toString();
        List<String> words = List.of(
                "train", images, "--out", run.toString(), "--backbone=filters", "--crops=paper:48", "--epochs=1000");

        Process first = start(SparkMain.class.getName(), JAR, words);
        Await.until("a run", () -> !first.isAlive() || Files.exists(run));
        new ProcessBuilder("kill", "-INT", String.valueOf(first.pid())).start().waitFor();
        ended(first, 130);

        assertThat(run).doesNotExist();
    }

    private void submit(String program, Path jar, List<String> arguments, int code)
            throws IOException, InterruptedException {
        ended(start(program, jar, arguments), code);
    }

    private Process start(String program, Path jar, List<String> arguments) throws IOException {
        List<Path> jars = new ArrayList<>(SparkHome.nativeJars());
        jars.add(JAR);
        return SparkHome.below(Path.of("target", "cluster"))
                .submit(program, jar, jars, arguments)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("submit.log").toFile())
                .start();
    }

    private void ended(Process process, int code) throws IOException, InterruptedException {
        assertThat(process.waitFor(300, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue())
                .as(Files.readString(folder.resolve("submit.log")))
                .isEqualTo(code);
    }

    /** A jar of one class, the program. */
    private Path jarOf(Class<?> program) throws IOException {
        Path jar = folder.resolve("program.jar");
        String name = program.getName().replace('.', '/') + ".class";
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new JarEntry(name));
            out.write(Objects.requireNonNull(program.getClassLoader().getResourceAsStream(name))
                    .readAllBytes());
        }
        return jar;
    }
}
