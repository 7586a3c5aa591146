package org.gramian.research;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.backbone.weights.Weights;
import org.gramian.tensor.Device;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.TrainingContext;
import org.gramian.train.recipe.Recipe.Precision;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Command line of a {@link Distillation}. */
@Command(
        name = "distill",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        header = "Train a small backbone from large ones on unlabelled images; the same command resumes.")
public final class DistillCommand implements Callable<Integer> {
    private static final int INTERRUPTED = 5;

    /** Sides of the student's and the teachers' images, and the decay of averaged weights, in the recipe of gramian-s. */
    private static final int IMAGE_SIZE = 160;

    private static final int TEACHER_SIZE = 224;
    private static final double EMA = 0.9995;

    @Parameters(arity = "1..*", paramLabel = "IMAGES", description = "folders of images, read recursively")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private List<Path> images;

    @Option(names = "--student", required = true, paramLabel = "NAME:LAYERS", description = "backbone to train")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String student;

    @Option(names = "--init", paramLabel = "WEIGHTS", description = "weights to start from (default: random)")
    private @Nullable String init;

    @Option(
            names = "--teacher",
            required = true,
            paramLabel = "NAME:LAYERS",
            description =
                    "backbone with installed weights and its matched layers, as many as the student's; repeatable")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private List<String> teachers;

    @Option(names = "--out", required = true, paramLabel = "DIR", description = "folder of the results")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private Path out;

    @Option(names = "--epochs", required = true, paramLabel = "N", description = "number of epochs")
    private int epochs;

    @Option(names = "--gram-distance", description = "compare Gram matrices by their distance, not their cosine")
    private boolean distance;

    @Option(names = "--lr", paramLabel = "RATE", defaultValue = "0.002", description = "highest learning rate")
    private double rate;

    @Option(names = "--batch", paramLabel = "N", defaultValue = "512", description = "batch size")
    private int batch;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "0", description = "random seed")
    private long seed;

    @Option(names = "--device", paramLabel = "DEVICE", defaultValue = "auto", description = "cpu, cuda or auto")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String deviceName;

    /** Runs the command and ends the process. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new DistillCommand()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException {
        Device device = Device.parse(deviceName);
        Precision precision = device.kind() == Device.Kind.CUDA ? Precision.BF16 : Precision.F32;
        Distillation.Options options = new Distillation.Options(
                !distance, epochs, rate, batch, IMAGE_SIZE, TEACHER_SIZE, EMA, precision, seed);
        Cancellation cancellation = Cancellation.onRequest();
        CountDownLatch ended = new CountDownLatch(1);
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> { // Ctrl-C leaves a checkpoint
                            cancellation.cancel();
                            try {
                                ended.await();
                            } catch (InterruptedException _) {
                                Thread.currentThread().interrupt();
                            }
                        }));
        try {
            return run(
                    options,
                    TrainingContext.of(device).withCancellation(cancellation).withListener(this::show));
        } finally {
            ended.countDown();
        }
    }

    private int run(Distillation.Options options, TrainingContext context) throws IOException {
        WeightStore store = WeightStore.ofProcess();
        List<Teacher> opened = new ArrayList<>();
        try (Arena arena = Arena.ofShared()) {
            for (String text : teachers) {
                Backbone backbone = backbone(store, text);
                Weights found = store.find(backbone, backbone.name(), arena, System.err::println);
                opened.add(Teacher.of(backbone, found, context.device()));
            }
            Backbone trained = backbone(store, student);
            Optional<Weights> start = init == null
                    ? Optional.empty()
                    : Optional.of(store.find(trained, init, arena, System.err::println));
            Optional<Path> file = new Distillation(trained, start, opened, images, options, out, context).run();
            System.out.println(file.map(Path::toString).orElse("interrupted; resume with the same command"));
            return file.isPresent() ? 0 : INTERRUPTED;
        } finally {
            opened.forEach(Teacher::close);
        }
    }

    private static Backbone backbone(WeightStore store, String text) {
        int colon = text.indexOf(':');
        return colon < 0
                ? store.backbone(text)
                : store.backbone(text.substring(0, colon)).cutAt(text.substring(colon + 1));
    }

    private void show(TrainEvent event) {
        if (event instanceof TrainEvent.EpochDone done) {
            System.err.printf(
                    Locale.ROOT,
                    "epoch %d/%d  loss %.4f  lr %.2g%n",
                    done.epoch() + 1,
                    epochs,
                    done.loss(),
                    done.learningRate());
        }
    }
}
