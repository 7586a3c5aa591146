package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.gramian.run.config.ConfigException;
import org.gramian.run.config.Key;
import org.gramian.run.config.Keys;
import org.gramian.run.config.Origin;
import org.gramian.run.config.Setting;
import org.gramian.run.config.Settings;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

public class TrainOptionsTest {
    /** What each option is short for, with a text that it takes. */
    private static final Map<String, String> FLAGS = Map.ofEntries(
            Map.entry("--layout=fmd", "data.layout"),
            Map.entry("--protocol=thirds:3", "data.protocol"),
            Map.entry("--crops=paper:96", "data.crops"),
            Map.entry("--augment=standard+erase:0.25", "data.augment"),
            Map.entry("--test-crops=resize:288+flips", "data.test-crops"),
            Map.entry("--validation=0.25", "data.validation"),
            Map.entry("--near-duplicates=ignore", "data.near-duplicates"),
            Map.entry("--backbone=vgg16", "network.backbone"),
            Map.entry("--layer=conv5_3", "network.layer"),
            Map.entry("--weights=vgg16-keras", "network.weights"),
            Map.entry("--pooling=average", "network.pooling"),
            Map.entry("--classifier=softmax", "network.classifier"),
            Map.entry("--fidelity=paper", "fidelity"),
            Map.entry("--epochs=3", "stage1.epochs"),
            Map.entry("--lr=0.5", "stage1.rate"),
            Map.entry("--schedule=steps:6,7", "stage1.schedule"),
            Map.entry("--fine-tune=2", "stage2.epochs"),
            Map.entry("--fine-tune-lr=0.25", "stage2.rate"),
            Map.entry("--backbone-rate=0.5", "stage2.backbone-rate"),
            Map.entry("--quality=fast", "quality"),
            Map.entry("--batch=7", "optimizer.batch"),
            Map.entry("--optimizer=adamw", "optimizer.name"),
            Map.entry("--weight-decay=0.05", "optimizer.weight-decay"),
            Map.entry("--clip=1", "optimizer.clip"),
            Map.entry("--ema=0.999", "optimizer.ema"),
            Map.entry("--label-smoothing=0.1", "optimizer.label-smoothing"),
            Map.entry("--mixup=0.2", "optimizer.mixup"),
            Map.entry("--cutmix=1", "optimizer.cutmix"),
            Map.entry("--dropout=0.3", "network.dropout"),
            Map.entry("--class-weights=balanced", "optimizer.class-weights"),
            Map.entry("--seed=-9", "seed"));

    @TempDir
    private Path folder = Path.of("");

    @Command(name = "train")
    private static final class Train {
        @Mixin
        private final TrainOptions options = new TrainOptions();
    }

    public static Settings requested(String... arguments) {
        Train train = new Train();
        new CommandLine(train).parseArgs(arguments);
        try {
            return train.options.requested(_ -> {});
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void assertWrong(Facts message, String... arguments) {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> requested(arguments))
                .has(message);
    }

    @Test
    void nothingTypedIsNothingAsked() {
        assertThat(requested()).isEqualTo(Settings.NONE);
    }

    @Test
    void everyOptionSetsItsKeyAndIsItsOrigin() {
        FLAGS.forEach((argument, key) -> {
            String[] parts = argument.split("=", 2);
            assertThat(requested(argument).values())
                    .isEqualTo(Map.of(key, new Setting(key, parts[1], Origin.flag(parts[0]))));
        });
    }

    @Test
    void thisTestKnowsEveryOption() {
        List<String> others = List.of(
                "--config",
                "--set",
                "--weights-dir",
                "--input",
                "--no-gallery",
                "--tensorboard",
                "--image-size",
                "--test-size",
                "--tta");
        assertThat(new CommandLine(new Train()).getCommandSpec().options())
                .extracting(option -> option.names()[0])
                .filteredOn(name -> !others.contains(name))
                .containsExactlyInAnyOrderElementsOf(FLAGS.keySet().stream()
                        .map(text -> text.split("=", 2)[0])
                        .toList());
    }

    @Test
    void sizesAndTestTimeAugmentationChangeTheCrops() throws IOException {
        assertThat(requested("--image-size=320").values())
                .isEqualTo(Map.of("data.crops", new Setting("data.crops", "resize:320", Origin.flag("--image-size"))));
        assertThat(requested("--crops=resize:96", "--test-size=128", "--tta=flips")
                        .get(Keys.TEST_CROPS))
                .hasValueSatisfying(plan -> assertThat(plan.text()).isEqualTo("resize:128+flips"));
        Path file = Files.writeString(folder.resolve("run.yaml"), "data:\n  crops: ten:64\n");
        assertThat(requested("--config=" + file, "--image-size=80")
                        .get(Keys.CROPS)
                        .text())
                .isEqualTo("ten:80");
        assertWrong(facts("--tta", "none", "flips", "five", "ten", "'flps'", "'flips'"), "--tta=flps");
        assertWrong(facts("--image-size", "1", "'0'"), "--image-size=0");
        assertWrong(facts("--test-size", "99999"), "--test-size=99999");
    }

    @Test
    void aWishForNoGalleryIsAValueOfItsKey() {
        assertThat(requested("--no-gallery").values())
                .isEqualTo(Map.of("gallery", new Setting("gallery", "false", Origin.flag("--no-gallery"))));
    }

    @Test
    void tensorBoardIsAValueOfItsKey() {
        assertThat(requested("--tensorboard").values())
                .isEqualTo(Map.of("tensorboard", new Setting("tensorboard", "true", Origin.flag("--tensorboard"))));
    }

    @Test
    void learningRateIsANumber() {
        assertWrong(facts("--lr", "number", "'auto'"), "--lr=auto");
    }

    @Test
    void everyKeyCanBeSet() {
        for (Key<?> key : Keys.all()) {
            String text = key.fixedText().orElseGet(() -> sample(key));
            assertThat(requested("--set", key.name() + "=" + text).values())
                    .isEqualTo(Map.of(key.name(), new Setting(key.name(), text, Origin.flag("--set"))));
        }
    }

    static String sample(Key<?> key) {
        return switch (key.name()) {
            case "network.classifier", "stage1.refit" -> "svm:C=10";
            case "network.pooling" -> "bcnn";
            case "data.crops" -> "resize:96";
            case "data.augment" -> "light";
            case "data.validation", "network.dropout", "optimizer.label-smoothing" -> "0.25";
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
            default -> "1";
        };
    }

    @Test
    void optionsGoBeforeTheFile() throws IOException {
        Path file = Files.writeString(folder.resolve("run.yaml"), "seed: 1\nstage1:\n  rate: 2\n  epochs: 3\n");
        Map<String, Setting> values = requested("--lr=5", "--set", "stage1.epochs=6", "--config=" + file)
                .values();
        assertThat(values.get("seed")).isEqualTo(new Setting("seed", "1", new Origin("run.yaml, line 1", true)));
        assertThat(values.get("stage1.rate")).isEqualTo(new Setting("stage1.rate", "5", Origin.flag("--lr")));
        assertThat(values.get("stage1.epochs")).isEqualTo(new Setting("stage1.epochs", "6", Origin.flag("--set")));
    }

    @Test
    void aFileAloneRepeatsItsRunAndBesideOptionsWhatItChoseIsChosenAnew() throws IOException {
        Path file = Files.writeString(
                folder.resolve("run.yaml"), "seed: 1\nstage1:\n  rate: 2\n  epochs: 3\nchosen: [stage1.rate]\n");
        assertThat(requested("--config=" + file).values()).containsOnlyKeys("stage1.epochs", "stage1.rate", "seed");
        assertThat(requested("--config=" + file, "--pooling=average").values())
                .containsOnlyKeys("network.pooling", "stage1.epochs", "seed");
        assertThat(requested("--config=" + file, "--set", "seed=2").values()).containsOnlyKeys("stage1.epochs", "seed");
        assertThat(requested("--config=" + file, "--lr=4").get(Keys.STAGE1_RATE))
                .isEqualTo(4);
    }

    @Test
    void aMessageNamesTheOptionAndTheKeyOfSet() {
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

    @Test
    void theHelpListsAllKeysWithMeaningAndDefault() {
        String help = TrainOptions.keys();
        assertThat(help.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(108));
        for (Key<?> key : Keys.all()) {
            assertThat(help).contains(" " + key.name() + "=", key.meaning(), key.defaultText());
        }
    }
}
