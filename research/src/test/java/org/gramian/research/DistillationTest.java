package org.gramian.research;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import javax.imageio.ImageIO;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.Checkpointing;
import org.gramian.train.loop.History;
import org.gramian.train.loop.TrainingContext;
import org.gramian.train.recipe.Recipe.Precision;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DistillationTest {
    private static final int EPOCHS = 4;

    @TempDir
    private Path folder = Path.of("");

    /** Stripes of several directions and colours. */
    @BeforeEach
    void paint() throws IOException {
        Path images = Files.createDirectories(folder.resolve("images/inside"));
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 14; i++) {
            BufferedImage image = new BufferedImage(48, 40, BufferedImage.TYPE_INT_RGB);
            double dx = random.nextDouble();
            double dy = random.nextDouble();
            int colour = random.nextInt(0x1000000);
            for (int y = 0; y < 40; y++) {
                for (int x = 0; x < 48; x++) {
                    image.setRGB(x, y, Math.sin(x * dx + y * dy) > 0 ? colour : ~colour & 0xffffff);
                }
            }
            ImageIO.write(image, "png", images.resolve(i + ".png").toFile());
        }
    }

    private static Teacher teacher(String layers) {
        Backbone backbone = Backbone.of("squeezenet", layers);
        Backbone scores = backbone.cutAt(Backbone.LOGITS);
        ParameterSet parameters =
                ParameterSet.initialize(scores.parameters(), new SplittableRandom(7), DType.F32, Device.CPU);
        return new Teacher(backbone, Optional.of(scores), parameters, backbone.preprocessing(), "random");
    }

    private Optional<Path> run(String out, int epochs, Consumer<TrainEvent> listener, Cancellation cancellation)
            throws IOException {
        Distillation.Options options = new Distillation.Options(true, epochs, 3e-3, 6, 32, 48, 0.5, Precision.F32, 3);
        TrainingContext context = TrainingContext.of(Device.CPU)
                .withThreads(1)
                .withListener(listener)
                .withCancellation(cancellation)
                .withCheckpointing(Checkpointing.every(Duration.ofDays(1)));
        try (Teacher teacher = teacher("fire4+fire6")) {
            return new Distillation(
                            Backbone.of("gramian-s", "layer2+layer3"),
                            Optional.empty(),
                            List.of(teacher),
                            List.of(folder.resolve("images")),
                            options,
                            folder.resolve(out),
                            context)
                    .run();
        }
    }

    private Path trained(String out, int epochs) throws IOException {
        return run(out, epochs, _ -> {}, Cancellation.onRequest()).orElseThrow();
    }

    @Test
    void lossFallsAndWeightsCanBeInstalled() throws IOException {
        Path file = trained("out", EPOCHS);
        List<EpochDone> epochs = History.open(folder.resolve("out/history.csv")).epochs();
        assertThat(epochs).hasSize(EPOCHS);
        assertThat(epochs.getLast().loss()).isLessThan(0.95 * epochs.getFirst().loss());
        assertThat(epochs).allSatisfy(epoch -> assertThat(epoch.accuracy()).isZero());
        assertThat(folder.resolve("out/checkpoint.safetensors")).doesNotExist();
        Backbone backbone = Backbone.of("gramian-s");
        try (Arena arena = Arena.ofConfined();
                ParameterSet loaded = new WeightStore(folder.resolve("store"))
                        .find(backbone, file.toString(), arena, _ -> {})
                        .load(backbone, DType.F32, Device.CPU)) {
            assertThat(loaded.all()).isNotEmpty();
        }
    }

    @Test
    void resumedRunEqualsUninterruptedRun() throws IOException {
        byte[] whole = Files.readAllBytes(trained("whole", 2));
        Cancellation cancellation = Cancellation.onRequest();
        assertThat(run(
                        "parts",
                        2,
                        event -> {
                            if (event instanceof TrainEvent.Stepped step && step.epoch() == 1 && step.step() == 1) {
                                cancellation.cancel();
                            }
                        },
                        cancellation))
                .isEmpty();
        assertThat(Files.readAllBytes(trained("parts", 2))).isEqualTo(whole);
    }

    @Test
    void teacherWithOtherNumberOfLayersIsRefused() {
        try (Teacher teacher = teacher("fire4")) {
            assertThatThrownBy(() -> new Distillation(
                            Backbone.of("gramian-s", "layer3+layer4"),
                            Optional.empty(),
                            List.of(teacher),
                            List.of(folder),
                            new Distillation.Options(true, 1, 1e-3, 6, 32, 48, 0.5, Precision.F32, 3),
                            folder,
                            TrainingContext.of(Device.CPU)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("squeezenet");
        }
    }
}
