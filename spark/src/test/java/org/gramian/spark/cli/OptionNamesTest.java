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
import org.gramian.run.config.ConfigKey;
import org.gramian.run.config.Settings;
import org.gramian.spark.testing.SparkHome;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Names of options, which the launcher must not take for options of spark-submit. */
class OptionNamesTest {
    private static List<String> submits() throws IOException {
        String script = Files.readString(Path.of("..", "scripts", "spark.sh"));
        Matcher list = Pattern.compile("submit_values='([^']*)'").matcher(script);
        assertThat(list.find()).isTrue();
        return Arrays.asList(list.group(1).strip().split("\\s+"));
    }

    @Test
    void optionsDoNotClashWithSparkSubmit() throws IOException {
        List<String> submits = submits();
        assertThat(submits).contains("--name", "--master", "--keytab");

        for (CommandLine command : SparkMain.commandLine().getSubcommands().values()) {
            assertThat(command.getCommandSpec().optionsMap().keySet())
                    .as(command.getCommandName())
                    .doesNotContainAnyElementsOf(submits);
        }
    }

    @Test
    void sharedOptionsAreThoseOfTraining() {
        assertThat(ConfigKey.options()).extracting(ConfigKey.Option::name).containsAll(SparkTrainCommand.SHARED);
    }

    @Test
    void optionSetsItsKeyOrTheCrops() {
        assertThat(requested("--learning-rate=0.5", "--imgsz=96", "--set=stage1.warmup=1")
                        .values())
                .extractingByKeys("data.crops", "stage1.rate", "stage1.warmup")
                .extracting(setting -> setting.text() + " " + setting.origin())
                .containsExactly("resize:96 --image-size", "0.5 --lr", "1 --set");
    }

    private static Settings requested(String... arguments) {
        CommandLine spark = SparkMain.commandLine();
        spark.parseArgs(Stream.concat(Stream.of("train", "--out=run", "photos"), Stream.of(arguments))
                .toArray(String[]::new));
        SparkTrainCommand train =
                Objects.requireNonNull(spark.getSubcommands().get("train")).getCommand();
        return train.requested();
    }

    /** The launcher takes away {@code -Xmxnone}, and reads words that end with a zero. */
    @Test
    void launcherMakesJavaOptionsOfDriverOptions() throws IOException, InterruptedException {
        SparkHome spark = SparkHome.below(Path.of("target", "cluster"));
        List<String> program = List.of("--class", "my.Program", "my.jar", "predict", "", "--out", "o");

        List<String> requested = spark.launch(Stream.concat(
                        Stream.of("--conf", "spark.driver.memory=3g", "--driver-java-options=-Dmy=1", "--name", "n"),
                        program.stream())
                .toList());

        assertThat(requested).contains("-Xmx3g", "-Dmy=1", "-Dlog=a b").doesNotContain("-Xmxnone");
        assertThat(requested).endsWith("--out", "o").containsSequence("predict", "");
        assertThat(spark.launch(program)).contains("-Xmxnone", "org.apache.spark.deploy.SparkSubmit");
    }
}
