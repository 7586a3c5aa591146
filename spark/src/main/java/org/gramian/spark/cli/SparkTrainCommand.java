package org.gramian.spark.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.commons.io.FileUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.gramian.run.config.ConfigFile;
import org.gramian.run.config.ConfigKey;
import org.gramian.run.config.DefaultResolver;
import org.gramian.run.config.Settings;
import org.gramian.spark.cli.SparkInputOptions.LabelOptions;
import org.gramian.spark.train.LabelledImages;
import org.gramian.spark.train.SparkTrainer;
import org.gramian.tensor.Device;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.History;
import org.gramian.train.loop.TrainingContext;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code gramian spark train}: trains a model with features from a cluster. */
@Command(
        name = "train",
        header = "Trains a model on a large labelled dataset.",
        description = {
            "Executors compute features of a frozen backbone; the driver collects them and trains or solves the head,",
            "up to 60 %% of its heap (--driver-memory). With --classifier lda or mean executors sum statistics"
                    + " instead,",
            "for any number of images. All images are training images except for a validation fraction: keep test",
            "images elsewhere. The folder gets model.safetensors, config.yaml and history.csv.",
            "Example: gramian spark train photos/ --out run --backbone googlenet --classifier lda"
        })
final class SparkTrainCommand extends SparkCommand {
    private static final String EXAMPLE = "optimizer.momentum=0.9";

    /** Options of {@code gramian train} for heads on a frozen backbone. */
    static final Set<String> SHARED = Set.of(("--crops --image-size --validation --backbone --layer --weights"
                    + " --pooling --classifier --dropout --epochs --lr --schedule --batch --optimizer --weight-decay"
                    + " --clip --ema --seed")
            .split(" "));

    @Mixin
    private final LabelOptions labels = new LabelOptions();

    @Mixin
    private final DeviceOption device = new DeviceOption();

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "set any key of 'gramian train --help-all', e.g. --set " + EXAMPLE + "; repeatable")
    private List<String> pairs = new ArrayList<>();

    @Option(
            names = "--validation-column",
            paramLabel = "NAME",
            description = "boolean column of the table that marks the validation set, instead of a fraction")
    private @Nullable String validationColumn;

    @Parameters(
            index = "0..*",
            arity = "1..*",
            paramLabel = "PLACE",
            description = "class folders, glob patterns, or tables")
    private List<String> places;

    private final Map<ConfigKey.Option, OptionSpec> generated = new LinkedHashMap<>();

    /** Adds the options of {@code gramian train} that apply on Spark. */
    @Spec
    void addTo(CommandSpec command) {
        for (ConfigKey.Option option : ConfigKey.options()) {
            if (SHARED.contains(option.name())) {
                OptionSpec made = OptionSpec.builder(option.names().toArray(String[]::new))
                        .type(String.class)
                        .paramLabel(option.label())
                        .description(option.help())
                        .build();
                generated.put(option, made);
                command.addOption(made);
            }
        }
    }

    Settings requested() {
        Map<String, String> texts = new LinkedHashMap<>();
        generated.forEach((option, made) -> {
            if (made.getValue() instanceof String text) {
                texts.put(option.name(), text);
            }
        });
        Settings requested = DefaultResolver.withImageSize(Settings.typed(texts, pairs, EXAMPLE), texts);
        if (validationColumn != null && requested.has("data.validation")) {
            throw new IllegalArgumentException(
                    "expected --validation-column or data.validation (--validation), found both; leave one out");
        }
        return requested;
    }

    @Override
    void check() {
        device.name();
        requested();
    }

    @Override
    int run(SparkSession session) throws IOException, InterruptedException {
        Configuration hadoop = session.sessionState().newHadoopConf();
        output.check(places, hadoop);
        SparkInputOptions.Images images = input.read(session, places, this::log);
        Dataset<Row> labelled =
                validationColumn == null ? labels.named(images) : labels.named(images, images.named(validationColumn));
        LabelledImages.Columns columns =
                new LabelledImages.Columns("image", "path", "label", validationColumn == null ? "" : validationColumn);
        columns.requireIn(labelled.schema());
        Cancellation cancellation = Cancellation.onRequest();
        Path local = Files.createTempDirectory("gramian-run-");
        try (var _ = cancelOnSignal(session.sparkContext(), cancellation::cancel)) {
            TrainingContext context = TrainingContext.of(Device.CPU)
                    .withListener(this::show)
                    .withCancellation(cancellation)
                    .withHistory(History.open(local.resolve("history.csv")));
            SparkTrainer.Outcome trained = output.write(hadoop, () -> {
                var target = new org.apache.hadoop.fs.Path(output.place());
                target.getFileSystem(hadoop).mkdirs(target); // first: a place that cannot be written fails at once
                SparkTrainer.Outcome outcome = SparkTrainer.train(
                        labelled, columns, requested(), context, device.name(), local.resolve("model.safetensors"));
                ConfigFile.write(local.resolve("config.yaml"), outcome.settings());
                try (Stream<Path> files = Files.list(local)) {
                    for (Path file : files.toList()) {
                        target.getFileSystem(hadoop)
                                .copyFromLocalFile(new org.apache.hadoop.fs.Path(file.toUri()), target);
                    }
                }
                return outcome;
            });
            print(String.format(
                    Locale.ROOT,
                    "%s: %,d training images, %,d validation images, %,d unreadable images skipped%n",
                    output.place(),
                    trained.training(),
                    trained.validation(),
                    trained.unreadable()));
            return trained.unreadable() == 0 ? SparkMain.DONE : SparkMain.DATA;
        } finally {
            FileUtils.deleteDirectory(local.toFile());
        }
    }

    private void show(TrainEvent event) {
        switch (event) {
            case TrainEvent.Warning warning -> log(warning.text());
            case TrainEvent.HeadChosen chosen ->
                log("head " + chosen.best().pooling() + ", " + chosen.best().classifier());
            case TrainEvent.Solved solved -> log("classifier " + solved.text());
            case TrainEvent.EpochDone done ->
                log(String.format(
                        Locale.ROOT,
                        "epoch %d: loss %.4f, accuracy %.1f %%%s",
                        done.epoch() + 1,
                        done.loss(),
                        100 * done.accuracy(),
                        done.best() ? ", best" : ""));
            case TrainEvent.StageDone done -> log("trained for " + done.epochs() + " epochs: " + done.reason());
            default -> {} // Spark shows the progress of its jobs
        }
    }
}
