package org.gramian.train.loop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Head;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.feature.FeatureCache;
import org.gramian.train.feature.FeatureExtraction;
import org.gramian.train.feature.FeatureExtractor;
import org.gramian.train.feature.FrozenBackbone;
import org.gramian.train.loop.TrainingData.Parts;
import org.gramian.train.recipe.Recipe;

/**
 * A training that takes a tenth of a second: the first layer of SqueezeNet, not trained by anybody yet, and images of 16
 * pixels.
 *
 * @param recipe how
 * @param parts on what
 * @param pooling of the head
 * @param normalized whether scores are batch-normalized
 * @param means what should not matter
 */
record SmallTraining(Recipe recipe, Parts parts, String pooling, boolean normalized, Means means) {
    static final String SPD = "conv:6/rbf/spd:4/relu/triu/root/l2";
    private static final CropPlan CROPS = CropPlan.parse("center:16");

    /** What should not matter: threads that decode, a cache of features, and, but for rounding, the device. */
    record Means(int threads, Optional<Path> cache, Device device) {
        static final Means PLAIN = new Means(2, Optional.empty());

        Means(int threads, Optional<Path> cache) {
            this(threads, cache, Device.CPU);
        }
    }

    /**
     * What came of it.
     *
     * @param early why it stopped
     * @param model the file of the model as it was left
     * @param stages the files of the models at the ends of stages
     * @param test scores of test images at the last of these ends
     * @param events all
     */
    @SuppressWarnings("ArrayRecordComponent") // compared part by part, never as a whole
    record Outcome(
            Optional<Cancellation.Reason> early,
            byte[] model,
            Map<Integer, byte[]> stages,
            List<Logits> test,
            List<TrainEvent> events) {
        <E extends TrainEvent> List<E> events(Class<E> kind) {
            return events.stream().filter(kind::isInstance).map(kind::cast).toList();
        }

        /** All parameters behind one another. */
        float[] numbers() {
            ByteBuffer file = ByteBuffer.wrap(model).order(ByteOrder.LITTLE_ENDIAN);
            FloatBuffer data = file.position(Long.BYTES + Math.toIntExact(file.getLong()))
                    .slice()
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .asFloatBuffer();
            float[] numbers = new float[data.remaining()];
            data.get(numbers);
            return numbers;
        }
    }

    static SmallTraining of(Recipe recipe, Parts parts) {
        return new SmallTraining(recipe, parts, SPD, false, Means.PLAIN);
    }

    SmallTraining with(Recipe other) {
        return new SmallTraining(other, parts, pooling, normalized, means);
    }

    SmallTraining with(Parts other) {
        return new SmallTraining(recipe, other, pooling, normalized, means);
    }

    SmallTraining with(Means other) {
        return new SmallTraining(recipe, parts, pooling, normalized, other);
    }

    SmallTraining with(String otherPooling) {
        return new SmallTraining(recipe, parts, otherPooling, normalized, means);
    }

    SmallTraining withNormalizedScores() {
        return new SmallTraining(recipe, parts, pooling, true, means);
    }

    /** All classes: the first images of each are the training set, the next two the validation set, the last two the test set. */
    static Parts divide(Dataset dataset) {
        Parts parts = new Parts(dataset.samples(), List.of(), List.of());
        long[] counts = parts.counts(dataset.classes().size());
        List<List<Sample>> divided = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        long[] seen = new long[counts.length];
        dataset.samples().forEach(sample -> {
            long left = counts[sample.label()] - seen[sample.label()]++;
            divided.get(left <= 2 ? 2 : left <= 4 ? 1 : 0).add(sample);
        });
        return new Parts(divided.get(0), divided.get(1), divided.get(2));
    }

    /** Trains without interruptions and checkpoints. */
    Outcome run() throws IOException {
        return run(_ -> {}, Cancellation.onRequest(), Optional.empty());
    }

    /** Until it ends or is stopped. */
    Outcome run(Consumer<TrainEvent> listener, Cancellation breaks, Optional<Checkpointing> checkpointing)
            throws IOException {
        return run(listener, breaks, checkpointing, (_, _, _) -> {});
    }

    /** Receives the model at the end of each stage and the images it was trained on. */
    @FunctionalInterface
    interface StageModel {
        void at(Model model, TrainingData material, TrainingContext context) throws IOException;
    }

    /** Until its end, with a look at the model after each stage. */
    void run(StageModel look) throws IOException {
        run(_ -> {}, Cancellation.onRequest(), Optional.empty(), look);
    }

    private Outcome run(
            Consumer<TrainEvent> listener, Cancellation breaks, Optional<Checkpointing> checkpointing, StageModel look)
            throws IOException {
        List<TrainEvent> events = new ArrayList<>();
        TrainingContext context = TrainingContext.of(means.device())
                .withThreads(means.threads())
                .withListener(event -> {
                    events.add(event);
                    listener.accept(event);
                })
                .withCancellation(breaks)
                .withCheckpointing(checkpointing.orElseGet(() -> Checkpointing.every(Checkpointing.DEFAULT_INTERVAL)));
        Map<Integer, byte[]> stages = new LinkedHashMap<>();
        List<Logits> test = new ArrayList<>();
        Path besideImages = parts.training().getFirst().file().resolveSibling("run");
        try (FrozenBackbone network =
                        FrozenBackbone.withoutWeights(Backbone.of("squeezenet", "pool1"), means.device());
                FeatureCache cache = FeatureCache.open(means.cache(), besideImages, _ -> {});
                Model model = begin(network)) {
            FeatureExtractor extractor = new FeatureExtractor(network, 4, DType.F32);
            TrainingData material = new TrainingData(
                    parts,
                    CROPS.training(recipe.seed()),
                    CROPS.testing(),
                    new FeatureExtraction(extractor, Optional.of(cache)),
                    Map.of(),
                    Optional.empty());
            Optional<Cancellation.Reason> early = new TwoStageTraining(model, recipe, material, context)
                    .run((outcome, scores) -> {
                        stages.put(outcome.stage(), bytes(model));
                        test.clear();
                        test.addAll(scores.test().get());
                        look.at(model, material, context);
                    });
            return new Outcome(early, bytes(model), stages, test, events);
        }
    }

    private Model begin(FrozenBackbone network) {
        ParameterSet backbone = ParameterSet.initialize(
                network.backbone().parameters(), new SplittableRandom(0), DType.F32, network.device());
        Map<String, Tensor> values = new LinkedHashMap<>();
        network.parameters().all().forEach(parameter -> values.put(parameter.name(), parameter.value()));
        backbone.assign(values);
        Head head = new Head(Pooling.parse(pooling), classes(), normalized);
        return Model.begin(network.backbone(), backbone, head, new SplittableRandom(recipe.seed()), network.device());
    }

    private int classes() {
        return 1 + parts.training().stream().mapToInt(Sample::label).max().orElseThrow();
    }

    private byte[] bytes(Model model) {
        ModelCard card = new ModelCard(
                IntStream.range(0, classes()).mapToObj(label -> "c" + label).toList(),
                model.backbone().preprocessing(),
                CROPS,
                1,
                new LinkedHashMap<>(),
                new LinkedHashMap<>());
        try {
            Path file = Files.createTempFile("model", ".safetensors");
            try {
                ModelFile.write(file, model, card);
                return Files.readAllBytes(file);
            } finally {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Interrupts training after every so many steps and resumes from the checkpoint until the end.
     *
     * @return the outcome of the last part
     */
    Outcome interruptedEvery(int steps, Checkpointing checkpointing) throws IOException {
        for (int parts = 1; ; parts++) {
            if (parts > 100) {
                throw new AssertionError(
                        "training does not come to its end when interrupted every " + steps + " steps");
            }
            Optional<Outcome> outcome = brokenAfter(steps, checkpointing);
            if (outcome.isPresent() && outcome.get().early().isEmpty()) {
                return outcome.get();
            }
        }
    }

    /** Cancels after so many steps; empty if no step was completed. */
    Optional<Outcome> brokenAfter(int steps, Checkpointing checkpointing) throws IOException {
        Cancellation breaks = Cancellation.onRequest();
        int[] taken = {0};
        try {
            return Optional.of(run(
                    event -> {
                        if (event instanceof TrainEvent.Stepped && ++taken[0] == steps) {
                            breaks.cancel();
                        }
                    },
                    breaks,
                    Optional.of(checkpointing)));
        } catch (InterruptedTrainingException requested) {
            return Optional.empty();
        }
    }

    static Checkpointing checkpointing(Path folder, Duration every) {
        return new Checkpointing(folder.resolve("checkpoint.safetensors"), "these images, this recipe", every);
    }
}
