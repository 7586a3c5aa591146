package org.gramian.spark.cli;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.apache.spark.sql.SparkSession;
import org.gramian.spark.train.SparkTrainer;
import org.gramian.spark.train.Trained;
import org.gramian.spark.train.TrainingColumns;
import org.gramian.spark.train.TrainingJob;
import org.gramian.train.loop.Breaks;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.Keeper;
import org.gramian.train.loop.TrainEvent;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian spark train}: from many labelled pictures to a model, on a cluster. */
@Command(
        name = "train",
        mixinStandardHelpOptions = true,
        header = "From many labelled pictures to a model.",
        description = {
            "Computes features of a frozen network on all executors, keeps them as a table, and trains pooling and classifier",
            "on them, every step on all executors together. All pictures are learned from but for a share that judges epochs:",
            "keep those to test with elsewhere. The folder gets model.safetensors, config.yaml, history.csv and features; a",
            "run that was broken goes on by the same command with --resume. The network itself is not fine-tuned on Spark.",
            "For example: gramian spark train photos/ --out run --backbone googlenet --epochs 9"
        })
final class TrainCommand implements Callable<Integer> {
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
            description = "the run's folder, in any file system that driver and executors reach")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String out;

    @Option(names = "--resume", description = "go on with the run in that folder, if one was begun there")
    private boolean resume;

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            defaultValue = "auto",
            description = "cpu, cuda, cuda:<number>, or auto: the GPU that Spark gave the task, the processor where it"
                    + " gave none (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String device;

    @Parameters(
            index = "0..*",
            arity = "1..*",
            paramLabel = "PLACE",
            description = "folders of classes, patterns, or tables")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private List<String> places;

    @Override
    public Integer call() throws IOException, InterruptedException {
        input.check();
        return Session.run(console, this::train);
    }

    private int train(SparkSession session) throws IOException {
        InputOptions.Pictures pictures = input.read(session, places, console);
        if (!labels.known(pictures, input.isFiles())) {
            throw new IllegalArgumentException("expected a column of classes, found the columns "
                    + String.join(", ", pictures.rows().columns()) + "; name it by --label");
        }
        TrainingJob job = new TrainingJob(
                labels.named(pictures, input.isFiles()),
                new TrainingColumns(LabelOptions.PICTURE, LabelOptions.NAME, LabelOptions.LABEL, ""),
                options.asked(),
                out,
                resume,
                device);
        Breaks breaks = Breaks.whenAsked();
        SparkTrainer trainer = SparkTrainer.usual()
                .under(new SparkTrainer.Control(this::tell, console::say, breaks, Keeper.DEFAULT_INTERVAL));
        try (Interruption _ = Interruption.by(breaks::ask)) {
            return say(trainer.train(job));
        } catch (InterruptedTrainingException stopped) {
            console.say("stopped as asked; the same command with --resume goes on");
            return Main.INTERRUPTED;
        }
    }

    private int say(Trained trained) {
        if (trained.model().isEmpty()) {
            console.say("stopped as asked; the same command with --resume goes on");
            return Main.INTERRUPTED;
        }
        console.out()
                .printf(
                        Locale.ROOT,
                        "%s: learned from %,d pictures, judged by %,d%n",
                        trained.model().get(),
                        trained.training(),
                        trained.heldBack());
        if (trained.unreadable() > 0) {
            console.out()
                    .printf(
                            Locale.ROOT,
                            "%,d pictures could not be read and took no part, see 'reason' in %s%n",
                            trained.unreadable(),
                            trained.features());
        }
        console.out().flush();
        return trained.unreadable() == 0 ? Main.DONE : Main.DATA;
    }

    private void tell(TrainEvent event) {
        if (event instanceof TrainEvent.EpochDone done) {
            console.say(String.format(
                    Locale.ROOT,
                    "epoch %d: loss %.4f, accuracy %.1f %% while learning%s",
                    done.epoch() + 1,
                    done.loss(),
                    100 * done.accuracy(),
                    done.best() ? ", the best so far" : ""));
        } else if (event instanceof TrainEvent.StageDone done) {
            console.say("trained for " + done.epochs() + " epochs: " + done.reason());
        }
    }
}
