package org.gramian.spark.cli;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.SparkSession;
import org.gramian.run.config.Settings;
import org.gramian.spark.train.LocalPathCheck;
import org.gramian.spark.train.SparkTrainer;
import org.gramian.spark.train.TrainingColumns;
import org.gramian.spark.train.TrainingJob;
import org.gramian.spark.train.TrainingOutcome;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.Checkpointing;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian spark train}: from many labelled images to a model, on a cluster. */
@Command(
        name = "train",
        mixinStandardHelpOptions = true,
        header = "Trains a model on a large labelled dataset.",
        description = {
            "Computes features of a frozen backbone on all executors, stores them as a table, and trains pooling and"
                    + " classifier",
            "on them, each step on all executors. All images are training images except for a validation fraction:",
            "keep test images elsewhere. The folder gets model.safetensors, config.yaml, history.csv and features; to",
            "resume an interrupted run, repeat the command with --resume. The backbone is not fine-tuned on Spark.",
            "Example: gramian spark train photos/ --out run --backbone googlenet --epochs 9"
        })
final class TrainCommand implements Callable<Integer> {
    private static final String HELD_BACK = "held_back";

    @Mixin
    private final Console console = new Console();

    @Mixin
    private final InputOptions input = new InputOptions();

    @Mixin
    private final LabelOptions labels = new LabelOptions();

    @Mixin
    private final TrainingOptions options = new TrainingOptions();

    @Option(
            names = "--out",
            paramLabel = "RUN",
            required = true,
            description = "the run folder, in any file system reachable from driver and executors")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String out;

    @Option(names = "--resume", description = "resume the run in that folder, if there is one")
    private boolean resume;

    @Mixin
    private final DeviceOption device = new DeviceOption();

    @Parameters(
            index = "0..*",
            arity = "1..*",
            paramLabel = "PLACE",
            description = "class folders, glob patterns, or tables")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private List<String> places;

    @Override
    public Integer call() throws IOException, InterruptedException {
        input.check();
        Settings requested = options.requested();
        String where = device.name();
        return SparkConnection.run(console, session -> {
            LocalPathCheck.warn(session, out, sentence -> console.say("--out: " + sentence));
            return train(session, requested, where);
        });
    }

    private int train(SparkSession session, Settings requested, String where) throws IOException {
        InputOptions.Images images = input.read(session, places, console);
        if (!labels.known(images, input.isFiles())) {
            throw new IllegalArgumentException("expected a column of classes, found the columns "
                    + String.join(", ", images.rows().columns()) + "; set it with --label-column");
        }
        Optional<Column> judges = options.validationColumn(images).map(column -> column.as(HELD_BACK));
        TrainingJob job = new TrainingJob(
                labels.named(images, input.isFiles(), judges.stream().toArray(Column[]::new)),
                new TrainingColumns(
                        LabelOptions.PICTURE,
                        LabelOptions.NAME,
                        LabelOptions.LABEL,
                        judges.isPresent() ? HELD_BACK : ""),
                requested,
                out,
                resume,
                where);
        Cancellation breaks = Cancellation.onRequest();
        try (TrainingProgressLog told = TrainingProgressLog.begin(session, console);
                Interruption _ = Interruption.by(() -> told.stop(breaks))) {
            return train(job, told, breaks);
        }
    }

    private int train(TrainingJob job, TrainingProgressLog told, Cancellation breaks) throws IOException {
        SparkTrainer trainer = SparkTrainer.usual()
                .under(new SparkTrainer.Control(told::tell, console::say, breaks, Checkpointing.DEFAULT_INTERVAL));
        try {
            return say(trainer.train(job));
        } catch (Exception failed) { // a cancelled job fails, too
            if (breaks.reason().isEmpty()) {
                throw failed;
            }
            return stopped();
        }
    }

    private int stopped() {
        console.say("interrupted; resume with the same command and --resume");
        return Main.INTERRUPTED;
    }

    private int say(TrainingOutcome trained) {
        if (trained.model().isEmpty()) {
            return stopped();
        }
        console.out()
                .printf(
                        Locale.ROOT,
                        "%s: %,d training images, %,d validation images%n",
                        trained.model().get(),
                        trained.training(),
                        trained.heldBack());
        if (trained.unreadable() > 0) {
            console.out()
                    .printf(
                            Locale.ROOT,
                            "%,d images are unreadable and were skipped, see 'reason' in %s%n",
                            trained.unreadable(),
                            trained.features());
        }
        console.out().flush();
        return trained.unreadable() == 0 ? Main.DONE : Main.DATA;
    }
}
