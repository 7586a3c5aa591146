package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** {@code gramian spark}: what goes to Spark's {@code SparkSubmit} and what to our program behind it. */
@DisabledOnOs(OS.WINDOWS)
final class SparkLauncherTest {
    @TempDir
    Path folder;

    private Checkout checkout;

    @BeforeEach
    void copyTheLauncher() throws IOException {
        checkout = Checkout.in(folder);
    }

    private void built() throws IOException {
        checkout.built().java("25");
        var built = Files.createDirectories(checkout.home().resolve("spark/target/gramian"));
        Files.writeString(built.resolve("built"), "");
        Files.writeString(built.resolve("libtorch.classpath"), "/some/libtorch.jar");
    }

    @Test
    void optionsOfSparkGoToItAndAllOthersToTheProgram() throws Exception {
        built();

        var outcome = checkout.run(
                "spark",
                "predict",
                "m",
                "--conf=a=b c",
                "p q",
                "--master",
                "spark://h:1",
                "--out",
                "o",
                "--jars",
                "x.jar");

        assertThat(outcome.exitCode()).isEqualTo(7);
        assertThat(outcome.errors()).isEmpty();
        assertThat(outcome.output())
                .endsWith("<org.apache.spark.deploy.SparkSubmit>\n<--conf>\n<a=b c>\n<--master>\n<spark://h:1>\n"
                        + "<--class>\n<org.gramian.spark.cli.Main>\n<--jars>\n</some/libtorch.jar,x.jar>\n<"
                        + checkout.home().toRealPath().resolve("spark/target/gramian/gramian-spark.jar")
                        + ">\n<predict>\n<m>\n<p q>\n<--out>\n<o>\n");
    }

    @Test
    void withoutAMasterAllCoresOfThisMachineComputeInOneProcessOfTheMemoryAskedFor() throws Exception {
        built();

        assertThat(checkout.run("spark", "audit", "--driver-memory", "3g").output())
                .contains("<-Xmx3g>\n")
                .contains("<--master>\n<local[*]>\n");
    }

    @Test
    void anOptionOfSparkWithoutItsValueIsSaid() throws Exception {
        built();

        assertThat(checkout.run("spark", "predict", "--master"))
                .isEqualTo(new Checkout.Outcome(
                        2, "", "gramian: --master: expected a value after it, as of spark-submit\n"));
    }

    @Test
    void onFirstUseTheModuleIsBuiltAndSparkLaidOutOfTheJarsThatMavenFound() throws Exception {
        checkout.jdk("25");
        checkout.maven("""
                case "$*" in *'-pl spark -am'*) ;; *) exit 1 ;; esac
                quick="$(dirname "$0")/../a checkout/spark/target/quick"
                mkdir -p "$quick" "$quick/../../src/main/launch"
                touch "$quick/gramian-spark-1-submit.jar" "$quick/../../src/main/launch/spark.jvm"
                printf /some/libtorch.jar >"$quick/libtorch.classpath"
                printf /jars/one.jar:/jars/two.jar >"$quick/spark.classpath"
                """);

        var outcome = checkout.run("spark", "--help");

        assertThat(outcome.exitCode()).as(outcome.errors()).isEqualTo(7);
        Path jars = checkout.home().resolve("spark/target/gramian/spark/jars");
        assertThat(Files.readSymbolicLink(jars.resolve("one.jar"))).isEqualTo(Path.of("/jars/one.jar"));
        assertThat(Files.readSymbolicLink(jars.resolve("two.jar"))).isEqualTo(Path.of("/jars/two.jar"));
    }
}
