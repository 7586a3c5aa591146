package org.gramian.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.gramian.run.config.Settings;
import org.gramian.spark.testing.SparkHome;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** What the launcher makes of options before our program sees them. */
class OptionNamesTest {
    private static List<String> submits() throws IOException {
        String script = Files.readString(Path.of("..", "scripts", "spark.sh"));
        Matcher list = Pattern.compile("submit_values='([^']*)'").matcher(script);
        assertThat(list.find()).isTrue();
        return Arrays.asList(list.group(1).strip().split("\\s+"));
    }

    @Test
    void noneOfOursIsCalledLikeOneOfSparkSubmitWhichTheLauncherWouldTakeAway() throws IOException {
        List<String> submits = submits();
        assertThat(submits).contains("--name", "--master", "--keytab");

        for (CommandLine command : Main.commandLine().getSubcommands().values()) {
            assertThat(command.getCommandSpec().optionsMap().keySet())
                    .as(command.getCommandName())
                    .doesNotContainAnyElementsOf(submits);
        }
    }

    @Test
    void theKeyThatTheHelpOfTrainNamesIsThere() {
        String help = Objects.requireNonNull(Main.commandLine().getSubcommands().get("train"))
                .getUsageMessage();
        Matcher example = Pattern.compile("(?:as|e\\.g\\.) --set\\s+(\\S+);").matcher(help);

        assertThat(example.find()).as(help).isTrue();
        assertThat(Settings.NONE.typedPair(example.group(1), "a=b")).isNotEqualTo(Settings.NONE);
    }

    /** The launcher takes away {@code -Xmxnone}, and reads words that end with a zero. */
    @Test
    void sparksLauncherTurnsOptionsOfTheDriverIntoThoseOfJavaInTheFormThatTheScriptReads()
            throws IOException, InterruptedException {
        SparkHome spark = SparkHome.below(Path.of("target", "cluster"));
        List<String> program = List.of("--class", "my.Program", "my.jar", "predict", "", "--out", "o");

        List<String> asked = spark.launch(Stream.concat(
                        Stream.of("--conf", "spark.driver.memory=3g", "--driver-java-options=-Dmy=1", "--name", "n"),
                        program.stream())
                .toList());

        assertThat(asked).contains("-Xmx3g", "-Dmy=1", "-Dlog=a b").doesNotContain("-Xmxnone");
        assertThat(asked).endsWith("--out", "o").containsSequence("predict", "");
        assertThat(spark.launch(program)).contains("-Xmxnone", "org.apache.spark.deploy.SparkSubmit");
    }
}
