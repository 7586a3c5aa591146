package org.gramian.train.distill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.Weights;
import org.gramian.image.ReadResult;
import org.gramian.image.augment.Augmentation;
import org.gramian.image.dataset.DatasetException;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;
import org.gramian.testing.Gpu;
import org.gramian.testing.PaintedImages;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.Checkpointing;
import org.gramian.train.loop.TrainingContext;
import org.gramian.train.recipe.Recipe.Precision;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DistillationTest {
    private static final int SIZE = 32;

    @TempDir
    private Path folder = Path.of("");

    private Path images = Path.of("");

    @BeforeEach
    void paint() throws IOException {
        images = folder.resolve("images");
        PaintedImages.folders(images, 8, 8, 8);
    }

    private static Teacher teacher(String layers, boolean classifier, Device device) {
        Backbone backbone = Backbone.of("squeezenet", layers);
        Optional<Backbone> scores = classifier ? Optional.of(backbone.cutAt(Backbone.LOGITS)) : Optional.empty();
        ParameterSet parameters = ParameterSet.initialize(
                scores.orElse(backbone).parameters(), new SplittableRandom(7), DType.F32, device);
        return new Teacher(backbone, scores, parameters, backbone.preprocessing(), "random");
    }

    private static DistillOptions options(int epochs, double logits) {
        return options(epochs, logits, 1, Precision.F32);
    }

    private static DistillOptions options(int epochs, double logits, int reuse, Precision precision) {
        return new DistillOptions(
                new DistillOptions.Losses(1, 0.5, logits, 2, false, false),
                new DistillOptions.Length(epochs, Optional.empty()),
                6,
                reuse,
                SIZE,
                64,
                1e-3,
                0.01,
                0.1,
                0.5,
                5,
                0.2,
                Augmentation.LIGHT,
                precision,
                2,
                3);
    }

    private static Backbone student(boolean whole) {
        return Backbone.of("mobilenet_v3_large", whole ? "features.16" : "features.3");
    }

    private Distillation.Result run(String out, DistillOptions options, Consumer<DistillEvent> listener)
            throws IOException {
        return run(out, options, listener, Cancellation.onRequest(), null, Device.CPU);
    }

    private Distillation.Result run(
            String out,
            DistillOptions options,
            Consumer<DistillEvent> listener,
            Cancellation cancellation,
            @Nullable LinearProbe probe,
            Device device)
            throws IOException {
        boolean logits = options.losses().logits() > 0;
        try (Teacher teacher = teacher("fire4", logits, device)) {
            return run(out, options, listener, cancellation, probe, device, student(logits), teacher);
        }
    }

    private Distillation.Result run(
            String out,
            DistillOptions options,
            Consumer<DistillEvent> listener,
            Cancellation cancellation,
            @Nullable LinearProbe probe,
            Device device,
            Backbone student,
            Teacher teacher)
            throws IOException {
        TrainingContext context = TrainingContext.of(device)
                .withThreads(2)
                .withCancellation(cancellation)
                .withCheckpointing(Checkpointing.every(Duration.ofMinutes(5)));
        return new Distillation(
                        student,
                        Optional.empty(),
                        List.of(teacher),
                        UnlabelledImages.of(List.of(images)),
                        probe,
                        options,
                        folder.resolve(out),
                        context,
                        listener)
                .run();
    }

    @Test
    void severalLayersAreMatchedEachWithOneOfTheTeacher() throws IOException {
        Backbone student = Backbone.of("mobilenet_v3_large", "features.3+features.6");
        List<Double> losses = new ArrayList<>();
        try (Teacher teacher = teacher("fire4+fire6", true, Device.CPU)) {
            assertThat(teacher.classes()).isEqualTo(1000);
            run(
                    "out",
                    options(6, 0),
                    event -> {
                        if (event instanceof DistillEvent.EpochDone done) {
                            losses.add(done.last().losses().total());
                        }
                    },
                    Cancellation.onRequest(),
                    null,
                    Device.CPU,
                    student,
                    teacher);
            assertThat(losses.getLast()).isLessThan(0.95 * losses.getFirst());
            assertThatThrownBy(() -> run(
                            "other",
                            options(1, 0),
                            _ -> {},
                            Cancellation.onRequest(),
                            null,
                            Device.CPU,
                            student(false),
                            teacher))
                    .hasMessageContainingAll("as many layers", "fire4+fire6", "features.3");
        }
    }

    @Test
    void theLossFallsAndTheWeightsAreThoseOfTheNetwork() throws IOException {
        long before = Tensor.live();
        List<DistillEvent.EpochDone> epochs = new ArrayList<>();
        Distillation.Result result = run("out", options(6, 0), event -> {
            if (event instanceof DistillEvent.EpochDone done) {
                epochs.add(done);
            }
        });
        assertThat(epochs).hasSize(6);
        assertThat(epochs.getLast().last().losses().total())
                .isLessThan(0.9 * epochs.getFirst().last().losses().total());
        Path file = result.weights().orElseThrow();
        assertThat(Files.readAllLines(folder.resolve("out").resolve(Distillation.HISTORY)))
                .hasSize(7)
                .first()
                .asString()
                .startsWith("epoch,images,learning_rate,loss,feature_loss,gram_loss");
        assertThat(folder.resolve("out/checkpoint.safetensors")).doesNotExist();
        try (Arena arena = Arena.ofConfined()) {
            List<String> remarks = new ArrayList<>();
            Weights weights = Weights.read("mobilenet_v3_large", file, arena, remarks::add);
            assertThat(weights.tensors()).containsKey("features.3.block.0.0.weight");
        }
        // interpolation keeps a matrix for each pair of sizes
        assertThat(Tensor.live()).as("live tensors").isLessThanOrEqualTo(before + 4);
    }

    @Test
    void classScoresAreMatchedByTheWholeNetworkAndAProbeMeasuresIt() throws IOException {
        List<Double> logits = new ArrayList<>();
        List<Double> probes = new ArrayList<>();
        Path labelled = folder.resolve("labelled");
        PaintedImages.folders(labelled, 8, 8);
        if (!Boolean.getBoolean("gramian.full")) {
            images = labelled; // two steps per epoch instead of four
        }
        try (LinearProbe probe = LinearProbe.open(labelled, student(true), SIZE, 0, Device.CPU, 2, _ -> {})) {
            Distillation.Result result = run(
                    "out",
                    options(4, 1),
                    event -> {
                        if (event instanceof DistillEvent.EpochDone done) {
                            logits.add(done.last().losses().logits());
                            done.probe().ifPresent(probes::add);
                        }
                    },
                    Cancellation.onRequest(),
                    probe,
                    Device.CPU);
            assertThat(result.probe()).isNotEqualTo(OptionalDouble.empty());
        }
        assertThat(logits.getLast()).isLessThan(logits.getFirst());
        assertThat(probes).hasSize(2).allMatch(accuracy -> accuracy >= 0 && accuracy <= 1);
    }

    @ParameterizedTest(name = "each crop in {0} steps, stopped at step {1} of epoch 2")
    @CsvSource({"1, 3", "3, 2", "3, 4", "3, 11"})
    void anInterruptedRunResumesToTheSameBytes(int reuse, int stop) throws IOException {
        DistillOptions options = options(3, 0, reuse, Precision.F32);
        byte[] whole =
                Files.readAllBytes(run("whole", options, _ -> {}).weights().orElseThrow());
        Cancellation cancellation = Cancellation.onRequest();
        Distillation.Result stopped = run(
                "parts",
                options,
                event -> {
                    if (event instanceof DistillEvent.Stepped step && step.epoch() == 2 && step.step() == stop) {
                        cancellation.cancel();
                    }
                },
                cancellation,
                null,
                Device.CPU);
        assertThat(stopped.weights()).isEmpty();
        assertThat(Distillation.hasCheckpoint(folder.resolve("parts"))).isTrue();
        List<Integer> resumed = new ArrayList<>();
        Distillation.Result done = run("parts", options, event -> {
            if (event instanceof DistillEvent.Started started) {
                resumed.add(started.resumed());
            }
        });
        assertThat(resumed).containsExactly(1);
        byte[] parts = Files.readAllBytes(done.weights().orElseThrow());
        assertThat(tensors(parts)).isEqualTo(tensors(whole));
    }

    /** Returns the bytes behind the header, whose metadata have the time that training took. */
    private static byte[] tensors(byte[] file) {
        int header = 8 + (file[0] & 0xff) + ((file[1] & 0xff) << 8) + ((file[2] & 0xff) << 16);
        return Arrays.copyOfRange(file, header, file.length);
    }

    @Test
    void aCheckpointOfOtherOptionsIsRefused() throws IOException {
        Cancellation cancellation = Cancellation.onRequest();
        run(
                "out",
                options(3, 0),
                event -> {
                    if (event instanceof DistillEvent.Stepped) {
                        cancellation.cancel();
                    }
                },
                cancellation,
                null,
                Device.CPU);
        assertThatThrownBy(() -> run("out", options(4, 0), _ -> {}))
                .hasMessageContainingAll("checkpoint.safetensors", "other options", "--out");
    }

    @Test
    void aTimeBudgetEndsTheScheduleAndLeavesWeights() throws IOException {
        List<DistillEvent.Stepped> steps = new ArrayList<>();
        Distillation.Result result = run(
                "out",
                options(1000, 0),
                event -> {
                    if (event instanceof DistillEvent.Stepped step) {
                        steps.add(step);
                    }
                },
                Cancellation.after(Duration.ofSeconds(8)),
                null,
                Device.CPU);
        assertThat(result.weights()).isPresent();
        assertThat(steps.getLast().position()).isGreaterThan(0.8);
        assertThat(steps.getLast().learningRate()).isLessThan(0.5 * 1e-3);
    }

    @Test
    void anUnreadableImageIsLeftOutAndReported() throws IOException {
        Files.writeString(images.resolve("broken.jpg"), "no image");
        List<Path> skipped = new ArrayList<>();
        List<Integer> counts = new ArrayList<>();
        run("out", options(1, 0), event -> {
            switch (event) {
                case DistillEvent.Skipped(Path file, String _) -> skipped.add(file);
                case DistillEvent.Started started -> counts.add(started.images());
                default -> {}
            }
        });
        assertThat(skipped).containsExactly(images.resolve("broken.jpg"));
        assertThat(counts).containsExactly(24);
    }

    @Test
    void imagesOfATarFileAreFound() throws IOException {
        byte[] content = Files.readAllBytes(images.resolve("c0/0.png"));
        ByteArrayOutputStream tar = new ByteArrayOutputStream();
        for (String name : List.of("a/0.png", "a/1.png", "a/readme.txt")) {
            byte[] header = new byte[512];
            byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
            System.arraycopy(bytes, 0, header, 0, bytes.length);
            byte[] size = String.format("%011o", content.length).getBytes(StandardCharsets.UTF_8);
            System.arraycopy(size, 0, header, 124, size.length);
            header[156] = '0';
            tar.write(header);
            tar.write(content);
            tar.write(new byte[(512 - content.length % 512) % 512]);
        }
        tar.write(new byte[1024]);
        Path file = folder.resolve("images.tar");
        Files.write(file, tar.toByteArray());
        UnlabelledImages found = UnlabelledImages.of(List.of(file));
        assertThat(found.files()).containsExactly(file.resolve("a/0.png"), file.resolve("a/1.png"));
        assertThat(found.read(found.files().getFirst())).isInstanceOf(ReadResult.Readable.class);
        Files.write(file, Arrays.copyOf(tar.toByteArray(), 600));
        assertThatThrownBy(() -> UnlabelledImages.of(List.of(file)))
                .isInstanceOf(DatasetException.class)
                .hasMessageContaining("end is missing");
    }

    @Test
    void placesWithoutImagesAreRefused() throws IOException {
        Path empty = Files.createDirectories(folder.resolve("empty"));
        assertThatThrownBy(() -> UnlabelledImages.of(List.of(empty)))
                .isInstanceOf(DatasetException.class)
                .hasMessageContaining("at least 2 images");
        assertThatThrownBy(() -> UnlabelledImages.of(List.of(folder.resolve("none"))))
                .isInstanceOf(DatasetException.class)
                .hasMessageContaining("found nothing");
    }

    @Test
    void lossesThatAreAllOffAreRefused() {
        assertThatThrownBy(() -> new DistillOptions.Losses(0, 0, 0, 1, false, false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("--feature-weight", "--gram-weight", "--logit-weight");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void aGpuTrainsInBfloat16ByACudaGraph(int reuse) throws IOException {
        Device gpu = Gpu.required();
        DistillOptions half = options(40 / reuse, 1, reuse, Precision.BF16);
        List<Double> losses = new ArrayList<>();
        Distillation.Result result = run(
                "out",
                half,
                event -> {
                    switch (event) {
                        case DistillEvent.Started started ->
                            assertThat(started.onDevice()).isTrue();
                        case DistillEvent.EpochDone done ->
                            losses.add(done.last().losses().total());
                        default -> {}
                    }
                },
                Cancellation.onRequest(),
                null,
                gpu);
        assertThat(result.weights()).isPresent();
        assertThat(losses.getLast()).isLessThan(0.9 * losses.getFirst());
    }
}
