package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.gramian.cli.common.TorchOptions;
import org.gramian.run.config.ConfigException;
import org.gramian.run.config.ConfigKey;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

public class TrainOptionsTest {
    @TempDir
    private Path folder = Path.of("");

    @Command(name = "train")
    private static final class Train {
        @Mixin
        private final TrainOptions options = new TrainOptions();

        @Mixin
        private final TorchOptions torch = new TorchOptions();
    }

    public static Settings requested(String... arguments) {
        Train train = new Train();
        new CommandLine(train).parseArgs(arguments);
        try {
            return train.options.requested(train.torch, _ -> {});
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void assertWrong(Facts message, String... arguments) {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> requested(arguments))
                .has(message);
    }

    private static void assertValue(Settings settings, String key, String text, String origin) {
        assertThat(settings.values()).hasEntrySatisfying(key, setting -> {
            assertThat(setting.text()).isEqualTo(text);
            assertThat(setting.origin()).isEqualTo(origin);
        });
    }

    @Test
    void optionSetsItsKeyAndIsItsOrigin() {
        assertThat(requested()).isEqualTo(Settings.NONE);
        for (ConfigKey<?> key : ConfigKey.all()) {
            key.option().ifPresent(option -> {
                String text = option.label().isEmpty() ? option.constant() : sample(key);
                String argument = option.name() + (option.label().isEmpty() ? "" : "=" + text);
                Settings settings = requested(argument);
                assertThat(settings.values()).containsOnlyKeys(key.name());
                assertValue(settings, key.name(), text, option.name());
            });
        }
        assertValue(requested("--accelerate=-stem"), "accelerate", "-stem", "--accelerate");
    }

    @Test
    void imageSizeChangesTheCrops() throws IOException {
        assertValue(requested("--image-size=320"), "data.crops", "resize:320", "--image-size");
        assertValue(requested("--image-size=96", "--fidelity=paper"), "data.crops", "paper:96", "--image-size");
        Path file = Files.writeString(folder.resolve("run.yaml"), "data:\n  crops: ten:64\n");
        assertThat(requested("--config=" + file, "--image-size=80")
                        .get(TrainConfig.CROPS)
                        .text())
                .isEqualTo("ten:80");
        assertWrong(facts("--image-size", "1", "'0'"), "--image-size=0");
    }

    @Test
    void everyKeyCanBeSet() {
        for (ConfigKey<?> key : ConfigKey.all()) {
            assertValue(requested("--set", key.name() + "=" + sample(key)), key.name(), sample(key), "--set");
        }
    }

    private static String sample(ConfigKey<?> key) {
        return key.fixedDefault().orElseGet(() -> switch (key.name()) {
            case "network.classifier", "stage1.refit" -> "svm:C=10";
            case "network.pooling" -> "bcnn";
            case "data.crops" -> "resize:96";
            case "data.augment" -> "light";
            case "data.validation", "network.dropout", "network.unknown", "optimizer.label-smoothing" -> "0.25";
            case "stage2.schedule" -> "constant";
            case "optimizer.name" -> "adamw";
            case "stage1.per-length" -> "true";
            case "data.layout" -> "fmd";
            case "data.near-duplicates" -> "together";
            case "data.protocol" -> "given";
            case "stage1.schedule" -> "cosine";
            case "network.backbone" -> "googlenet";
            case "network.layer" -> "inception_4e";
            case "network.weights" -> "a=b.pth";
            case "optimizer.precision" -> "bf16";
            case "accelerate" -> "off";
            default -> "1";
        });
    }

    @Test
    void optionsOverrideTheFile() throws IOException {
        Path file = Files.writeString(folder.resolve("run.yaml"), "seed: 1\nstage1:\n  rate: 2\n  epochs: 3\n");
        Settings settings = requested("--lr=5", "--set", "stage1.epochs=6", "--config=" + file);
        assertValue(settings, "seed", "1", "run.yaml, line 1");
        assertValue(settings, "stage1.rate", "5", "--lr");
        assertValue(settings, "stage1.epochs", "6", "--set");
    }

    @Test
    void chosenValuesOfTheFileYieldToOptions() throws IOException {
        Path file = Files.writeString(
                folder.resolve("run.yaml"), "seed: 1\nstage1:\n  rate: 2\n  epochs: 3\nchosen: [stage1.rate]\n");
        assertThat(requested("--config=" + file).values()).containsOnlyKeys("stage1.epochs", "stage1.rate", "seed");
        assertThat(requested("--config=" + file, "--pooling=average").values())
                .containsOnlyKeys("network.pooling", "stage1.epochs", "seed");
        assertThat(requested("--config=" + file, "--set", "seed=2").values()).containsOnlyKeys("stage1.epochs", "seed");
        assertThat(requested("--config=" + file, "--lr=4").get(TrainConfig.STAGE1_RATE))
                .isEqualTo(4);
    }

    @Test
    void errorsNameOptionAndKey() {
        assertWrong(facts("--lr", "number", "'auto'"), "--lr=auto");
        assertWrong(facts("--schedule", "'plateu'", "'plateau'"), "--schedule=plateu");
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> requested("--epochs=five"))
                .withMessage("--epochs: expected a whole number of at least 0, found 'five'");
        assertWrong(facts("--set", "stage1.epochs", "'five'"), "--set", "stage1.epochs=five");
        assertWrong(facts("--set", "'stage2.warmp'", "'stage2.warmup'"), "--set", "stage2.warmp=1");
        assertWrong(facts("--set", "KEY=VALUE", "stage2.warmup=1", "'seed'"), "--set", "seed");
        assertWrong(facts("--set", "seed"), "--set", "seed=");
        assertWrong(facts("--set", "seed", "--seed"), "--seed=1", "--set", "seed=2");
        assertWrong(facts("--set", "--set", "seed"), "--set", "seed=1", "--set", "seed=2");
        assertWrong(facts(folder.resolve("x"), "YAML"), "--config=" + folder.resolve("x"));
    }
}
