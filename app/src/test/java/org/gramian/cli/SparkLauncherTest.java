package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.gramian.testing.Facts;
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
        checkout.built();
        launching(checkout.java("25"));
        var built = Files.createDirectories(checkout.home().resolve("spark/target/gramian"));
        Files.writeString(built.resolve("built"), "");
        Files.writeString(built.resolve("native.jars"), "/some/libtorch.jar,/some/libwebp.jar");
    }

    /** Adds to a made-up {@code java} what Spark's launcher does: says a command, of what it is given. */
    private static void launching(Path jdk) throws IOException {
        var java = jdk.resolve("bin/java");
        var tell = Files.readString(java).replaceFirst("#!.*\n", "");
        Checkout.script(java, """
            case " $* " in *" org.apache.spark.launcher.Main "*)
                while [ "$1" != org.apache.spark.launcher.Main ]; do shift; done
                shift
                printf '\\0\\n'
                printf '%s\\0' "$0" "-Xmx$SPARK_DRIVER_MEMORY" "$SPARK_SUBMIT_OPTS" "$@"
                exit 0 ;;
            esac
            """ + tell);
    }

    /** What is given to Spark's own program, and to ours behind it. */
    private String submitted(String... arguments) throws Exception {
        var outcome = checkout.run(arguments);
        assertThat(outcome.exitCode()).as(outcome.errors()).isEqualTo(7);
        assertThat(outcome.errors()).isEmpty();
        return outcome.output().replaceFirst("(?s).*<org.apache.spark.deploy.SparkSubmit>\n", "");
    }

    private String program() throws IOException {
        return "<--class>\n<org.gramian.spark.cli.SparkMain>\n<--jars>\n</some/libtorch.jar,/some/libwebp.jar>\n"
                + jar();
    }

    private String jar() throws IOException {
        return "<" + checkout.home().toRealPath().resolve("spark/target/gramian/gramian-spark.jar") + ">\n";
    }

    @Test
    void separatesOptionsOfSparkFromThoseOfTheProgram() throws Exception {
        built();

        assertThat(submitted(
                        "spark",
                        "predict",
                        "m",
                        "--conf=a=b c",
                        "p q",
                        "--master",
                        "spark://h:1",
                        "--out",
                        "o",
                        "",
                        "--jars",
                        "x.jar"))
                .isEqualTo("<--conf>\n"
                        + "<a=b c>\n"
                        + "<--master>\n"
                        + "<spark://h:1>\n"
                        + "<--class>\n"
                        + "<org.gramian.spark.cli.SparkMain>\n"
                        + "<--jars>\n"
                        + "</some/libtorch.jar,/some/libwebp.jar,x.jar>\n"
                        + jar()
                        + "<predict>\n<m>\n<p q>\n<--out>\n<o>\n<>\n");
    }

    @Test
    void defaultMasterIsLocalWithAllCores() throws Exception {
        built();

        assertThat(submitted("spark", "audit"))
                .isEqualTo("<--conf>\n<spark.ui.enabled=false>\n<--master>\n<local[*]>\n" + program() + "<audit>\n");
    }

    @Test
    void aMasterOfSettingsIsNotReplaced() throws Exception {
        built();
        Path file = Files.writeString(folder.resolve("some.conf"), "spark.master yarn\n");

        assertThat(submitted("spark", "audit", "--conf", "spark.master=yarn"))
                .isEqualTo("<--conf>\n<spark.master=yarn>\n" + program() + "<audit>\n");
        assertThat(submitted("spark", "audit", "--properties-file", file.toString()))
                .isEqualTo("<--properties-file>\n<" + file + ">\n" + program() + "<audit>\n");
    }

    @Test
    void jarsOfSettingsAreAddedOrRejected() throws Exception {
        built();
        Path file = Files.writeString(folder.resolve("some.conf"), "spark.jars=x.jar\n");

        assertThat(submitted("spark", "audit", "--conf=spark.jars=x.jar"))
                .contains("<--jars>\n</some/libtorch.jar,/some/libwebp.jar,x.jar>\n")
                .doesNotContain("spark.jars");
        assertRefused(
                checkout.run("spark", "audit", "--properties-file=" + file),
                facts("--properties-file", "spark.jars", file, "--jars"));
    }

    private static void assertRefused(Checkout.Outcome outcome, Facts facts) {
        assertThat(outcome.exitCode()).isEqualTo(2);
        assertThat(outcome.output()).isEmpty();
        assertThat(outcome.errors()).startsWith("gramian: ").has(facts).hasLineCount(1);
    }

    @Test
    void javaOptionsComeFromSparksLauncher() throws Exception {
        built();

        var output = checkout.run("spark", "audit").output();

        assertThat(output)
                .doesNotContain("-Xmx")
                .contains("<-Dlog4j2.configurationFile=\"file:"
                        + checkout.home().toRealPath().resolve("spark/target/gramian/log4j2.properties")
                        + "\" -Done=1 -Dtwo=2 >\n");
    }

    @Test
    void anOptionOfSparkWithoutItsValueIsSaid() throws Exception {
        built();

        assertRefused(checkout.run("spark", "predict", "--master"), facts("--master"));
    }

    @Test
    void firstUseBuildsModuleAndSparkHome() throws Exception {
        launching(checkout.jdk("25"));
        checkout.maven("""
            case "$*" in *'-pl spark -am'*) ;; *) exit 1 ;; esac
            quick="$(dirname "$0")/../a checkout/spark/target/quick"
            mkdir -p "$quick" "$quick/../../src/main/launch"
            touch "$quick/gramian-spark-1-submit.jar" "$quick/../../src/main/launch/spark.jvm"
            printf /some/libtorch.jar,/some/libwebp.jar >"$quick/native.jars"
            printf /jars/one.jar:/jars/two.jar >"$quick/spark.classpath"
            """);

        var outcome = checkout.run("spark", "--help");

        assertThat(outcome.exitCode()).as(outcome.errors()).isEqualTo(7);
        Path jars = checkout.home().resolve("spark/target/gramian/spark/jars");
        assertThat(Files.readSymbolicLink(jars.resolve("one.jar"))).isEqualTo(Path.of("/jars/one.jar"));
        assertThat(Files.readSymbolicLink(jars.resolve("two.jar"))).isEqualTo(Path.of("/jars/two.jar"));
    }
}
