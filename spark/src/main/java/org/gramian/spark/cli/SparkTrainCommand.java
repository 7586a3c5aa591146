package org.gramian.spark.cli;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.SparkSession;
import org.gramian.run.config.Settings;
import org.gramian.spark.train.ClusterOutput;
import org.gramian.spark.train.SparkTrainer;
import org.gramian.spark.train.TrainingColumns;
import org.gramian.spark.train.TrainingJob;
import org.gramian.spark.train.TrainingOutcome;
import org.gramian.tensor.Device;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.TrainingContext;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian spark train}: trains a model on a cluster. */
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
final class SparkTrainCommand implements Callable<Integer> {
    private static final String VALIDATION = "validation";

    @Mixin
    private final SparkApplication application = new SparkApplication();

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
    private final ModelCommand.DeviceOption device = new ModelCommand.DeviceOption();

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
        String deviceName = device.name();
        return application.run(session -> {
            ClusterOutput.warn(session, out, warning -> application.log("--out: " + warning));
            return train(session, requested, deviceName);
        });
    }

    private int train(SparkSession session, Settings requested, String deviceName) throws IOException {
        InputOptions.Images images = input.read(session, places, application);
        if (!labels.exist(images)) {
            throw new IllegalArgumentException("expected a column of classes, found the columns "
                    + String.join(", ", images.rows().columns()) + "; set it with --label-column");
        }
        Optional<Column> validation = options.validationColumn(images).map(column -> column.as(VALIDATION));
        TrainingJob job = new TrainingJob(
                labels.named(images, validation.stream().toArray(Column[]::new)),
                new TrainingColumns(
                        LabelOptions.IMAGE,
                        LabelOptions.NAME,
                        LabelOptions.LABEL,
                        validation.isPresent() ? VALIDATION : ""),
                requested,
                out,
                resume,
                deviceName);
        Cancellation cancellation = Cancellation.onRequest();
        try (TrainingProgressLog progress = TrainingProgressLog.start(session, application);
                JobCancellation _ = JobCancellation.onSignal(() -> progress.cancel(cancellation))) {
            TrainingContext context = TrainingContext.of(Device.CPU)
                    .withListener(progress::accept)
                    .withCancellation(cancellation);
            return report(SparkTrainer.create()
                    .withContext(context)
                    .withWarnings(application::log)
                    .train(job));
        } catch (Exception failed) { // a cancelled job fails, too
            if (cancellation.reason().isEmpty()) {
                throw failed;
            }
            return interrupted();
        }
    }

    private int interrupted() {
        application.log("interrupted; resume with the same command and --resume");
        return SparkMain.INTERRUPTED;
    }

    private int report(TrainingOutcome trained) {
        if (trained.model().isEmpty()) {
            return interrupted();
        }
        application
                .out()
                .printf(
                        Locale.ROOT,
                        "%s: %,d training images, %,d validation images%n",
                        trained.model().get(),
                        trained.training(),
                        trained.validation());
        if (trained.unreadable() > 0) {
            application
                    .out()
                    .printf(
                            Locale.ROOT,
                            "%,d images are unreadable and were skipped, see 'reason' in %s%n",
                            trained.unreadable(),
                            trained.features());
        }
        application.out().flush();
        return trained.unreadable() == 0 ? SparkMain.DONE : SparkMain.DATA;
    }
}
