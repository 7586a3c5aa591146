package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The script {@code gramian}: which Java it takes, when it builds, and that it then becomes the program. */
@DisabledOnOs(OS.WINDOWS)
final class LauncherTest {
    private static final String MAVEN_THAT_BUILDS = """
        sleep 1
        mkdir -p "$(dirname "$0")/../a checkout/app/target/quick/runtime-jars"
        touch "$(dirname "$0")/../a checkout/app/target/quick/gramian-app-1.jar"
        """;

    @TempDir
    Path folder;

    private Checkout checkout;

    @BeforeEach
    void copyTheLauncher() throws IOException {
        checkout = Checkout.in(folder);
    }

    @Test
    void withoutAJdkOneSentenceSaysWhatToInstall() throws Exception {
        checkout.jdk("17.0.15");

        assertWantsAJdk(checkout.run("doctor"));
        assertWantsAJdk(checkout.built().run("doctor"));
    }

    private static void assertWantsAJdk(Checkout.Outcome outcome) {
        assertThat(outcome.exitCode()).isEqualTo(2);
        assertThat(outcome.output()).isEmpty();
        assertThat(outcome.errors())
                .startsWith("gramian: ")
                .has(facts("JDK 25", "JAVA_HOME"))
                .hasLineCount(1);
    }

    @Test
    void withoutMavenOneSentenceSaysWhatToInstall() throws Exception {
        checkout.jdk("25.0.1");

        var outcome = checkout.run("doctor");

        assertThat(outcome.exitCode()).isEqualTo(2);
        assertThat(outcome.errors()).startsWith("gramian: ").has(facts("mvn")).hasLineCount(1);
    }

    @Test
    void argumentsAndExitCodePassThrough() throws Exception {
        checkout.java("25");

        var outcome = checkout.built().run("pool", "two words", "");

        assertThat(outcome.exitCode()).isEqualTo(7);
        assertThat(outcome.output())
                .contains("<-Done=1>\n<-Dtwo=2>\n")
                .endsWith("<org.gramian.cli.Main>\n<pool>\n<two words>\n<>\n");
        assertThat(outcome.errors()).isEmpty();
    }

    @Test
    void namesAreUtf8WhereTheLocaleIsAscii() throws Exception {
        checkout.java("25");
        Checkout.script(
                checkout.folderOfJdks().resolve("jdk-25/bin/java"), "echo \"locale ${LC_ALL-none} ${LANG-none}\"");
        assertThat(checkout.built().run().output()).contains("locale C.UTF-8 none");

        Checkout.script(
                checkout.tools().resolve("locale"),
                "if [ \"$1\" = -a ]; then echo C; echo de_DE.utf8; else echo ANSI_X3.4-1968; fi");
        assertThat(checkout.run().output()).contains("locale de_DE.utf8 none");

        Checkout.script(checkout.tools().resolve("locale"), "echo UTF-8");
        assertThat(checkout.run().output()).contains("locale none none");
        Checkout.script(checkout.tools().resolve("locale"), "echo ISO-8859-1");
        assertThat(checkout.run().output()).as("names there are in that set").contains("locale none none");
    }

    @Test
    void signalsReachTheProgram() throws Exception {
        checkout.built().java("25");

        var process = checkout.start(checkout.launcher());

        assertThat(Checkout.await(process).output()).startsWith("process " + process.pid() + "\n");
    }

    @Test
    void theLowestJavaThatIsNewEnoughIsTaken() throws Exception {
        for (String version : new String[] {"8", "11.0.2", "26", "25.0.3", "9.0.4", "17.0.15"}) {
            checkout.jdk(version);
        }

        assertThat(checkout.built().run().output()).contains("java 25.0.3\n");
    }

    @Test
    void aSymbolicLinkToTheLauncherWorksFromAnotherFolder() throws Exception {
        checkout.built().java("25");
        var link = Files.createSymbolicLink(folder.resolve("link"), Path.of("a checkout/gramian"));
        var linkToLink = Files.createSymbolicLink(checkout.tools().resolve("gramian"), link);

        var outcome = Checkout.await(checkout.start(linkToLink));

        assertThat(outcome.exitCode()).isEqualTo(7);
        assertThat(outcome.output()).contains("<" + checkout.home().toRealPath().resolve("app/target/gramian/*") + ">");
    }

    @Test
    void theProgramLearnsHowItWasCalled() throws Exception {
        checkout.built().java("25");
        assertThat(checkout.run().output()).contains("called " + checkout.launcher() + "\n");

        var onThePath = Files.createSymbolicLink(checkout.tools().resolve("gramian"), checkout.launcher());
        assertThat(Checkout.await(checkout.start(onThePath)).output()).contains("called gramian\n");
    }

    @Test
    void twoFirstUsesAtOnceBuildOnce() throws Exception {
        checkout.jdk("25");
        checkout.maven(MAVEN_THAT_BUILDS);

        var first = checkout.start(checkout.launcher());
        var second = checkout.start(checkout.launcher());

        assertThat(Checkout.await(first).exitCode()).isEqualTo(7);
        assertThat(Checkout.await(second).exitCode()).isEqualTo(7);
        assertThat(checkout.home().resolve("calls")).hasContent("run");
    }

    @Test
    void aChangedSourceIsBuiltAgain() throws Exception {
        checkout.built().jdk("25");
        checkout.maven(MAVEN_THAT_BUILDS);
        Files.setLastModifiedTime(
                checkout.home().resolve("pom.xml"), FileTime.from(Instant.now().plusSeconds(5)));

        assertThat(checkout.run().errors()).hasLineCount(2);
        assertThat(checkout.home().resolve("calls")).hasContent("run");
    }

    @Test
    void withoutMavenAnOlderBuildStillRunsAndSaysSo() throws Exception {
        checkout.built().java("25");
        Files.setLastModifiedTime(
                checkout.home().resolve("pom.xml"), FileTime.from(Instant.now().plusSeconds(5)));

        var outcome = checkout.run();

        assertThat(outcome.exitCode()).isEqualTo(7);
        assertThat(outcome.errors()).startsWith("gramian: ").hasLineCount(1);
    }

    @Test
    void aFailedBuildShowsMavensErrorsAndItsLog() throws Exception {
        checkout.jdk("25");
        checkout.maven("echo '[INFO] much else'; echo '[ERROR] cannot find symbol'; exit 1");

        var outcome = checkout.run();

        assertThat(outcome.exitCode()).isEqualTo(1);
        assertThat(outcome.errors())
                .contains("[ERROR] cannot find symbol")
                .contains("app/target/build.log")
                .doesNotContain("much else");
        assertThat(checkout.home().resolve("app/target/gramian")).doesNotExist();
    }
}
