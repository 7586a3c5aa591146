package org.gramian.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.imageio.ImageIO;
import org.gramian.image.Image;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.crop.CropPlan;
import org.gramian.tensor.Tensor;
import org.gramian.testing.TinyModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
final class ClassifierTest {
    @TempDir
    Path folder;

    private static Classifier classifier(String crops) {
        return Classifier.of(TinyModel.of(5), TinyModel.card(crops, 0.7));
    }

    private Path file(long seed) throws IOException {
        Path file = folder.resolve(seed + ".png");
        ImageIO.write(TinyModel.image(seed, 70 + (int) seed, 90).toBufferedImage(), "png", file.toFile());
        return file;
    }

    @Test
    void anImageItsFileAndItsImageGetTheSameAnswerAlsoFromTheModelsFile() throws IOException {
        Image image = TinyModel.image(4, 74, 90);
        Path model = folder.resolve("model.safetensors");
        try (Model written = TinyModel.of(5)) {
            ModelFile.write(model, written, TinyModel.card("paper:48", 0.7));
        }
        try (Classifier memory = classifier("paper:48");
                Classifier loaded = Classifier.load(folder)) {
            Prediction answer = memory.predict(image);
            assertThat(memory.predict(file(4))).isEqualTo(answer);
            assertThat(memory.predict(image.toBufferedImage())).isEqualTo(answer);
            assertThat(memory.predict(Files.readAllBytes(file(4)))).isEqualTo(answer);
            try (InputStream stream = Files.newInputStream(file(4))) {
                assertThat(memory.predict(stream)).isEqualTo(answer);
            }
            assertThat(memory.describe(file(4))).containsExactly(memory.describe(image));
            assertThat(loaded.predict(image)).isEqualTo(answer);
            assertThat(loaded.classes()).isEqualTo(TinyModel.CLASSES);
            assertThat(loaded.card()).isEqualTo(memory.card());
        }
    }

    @Test
    void listsPredictionsApartFromFailures() throws IOException {
        Path bad = Files.writeString(folder.resolve("bad.jpg"), "no image");
        List<Path> files = List.of(file(2), bad, file(1));
        try (Classifier classifier = classifier("paper:32")) {
            Predictions all = classifier.predict(files);
            assertThat(all.found().sequencedKeySet()).containsExactly(file(2), file(1));
            assertThat(all.failed()).containsOnlyKeys(bad);
            assertThat(all.failed().get(bad)).contains("JPEG");
            all.found().forEach((file, found) -> {
                Prediction expected = assertDoesNotThrow(() -> classifier.predict(file));
                assertThat(found.className()).isEqualTo(expected.className());
                assertThat(found.probability()).isCloseTo(expected.probability(), within(1e-5));
                assertThat(found.toJson()).startsWith("{\"class\":\"" + found.className() + "\",\"probability\":");
            });
            assertThat(classifier.predict(List.<Path>of()).found()).isEmpty();
        }
    }

    @Test
    void derivedClassifiersShareTheEngineAndItsEnd() {
        Image image = TinyModel.image(1, 60, 50);
        Classifier classifier = classifier("paper:32");
        Classifier derived = classifier.withBatch(3).withThreads(1).withCrops(CropPlan.parse("center:32"));
        assertThat(derived.engine()).isSameAs(classifier.engine());
        assertThat(derived.crops()).isEqualTo(1);
        assertRejected(() -> classifier.withBatch(0));
        derived.close();
        assertRejected(IllegalStateException.class, () -> classifier.predict(image));
    }

    @Test
    void eightThreadsGetTheBitsThatOneGets() throws InterruptedException, ExecutionException {
        try (Classifier classifier = classifier("paper:32");
                ExecutorService threads = Executors.newFixedThreadPool(8)) {
            List<Prediction> alone = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                alone.add(classifier.predict(TinyModel.image(i, 60, 50)));
            }
            List<Future<Prediction>> together = new ArrayList<>();
            for (int i = 0; i < 64; i++) {
                int seed = i % 16;
                together.add(threads.submit(() -> classifier.predict(TinyModel.image(seed, 60, 50))));
            }
            for (int i = 0; i < together.size(); i++) {
                assertThat(together.get(i).get()).isEqualTo(alone.get(i % 16));
            }
        }
    }

    @Test
    void closingWaitsForThoseWhoAreBeingAnsweredAndTheRestIsRefused() throws InterruptedException {
        Classifier classifier = classifier("paper:32");
        Image image = TinyModel.image(1, 60, 50);
        Prediction expected = classifier.predict(image);
        CountDownLatch started = new CountDownLatch(4);
        List<Throwable> trouble = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    while (true) {
                        assertThat(classifier.predict(image)).isEqualTo(expected);
                        started.countDown();
                    }
                } catch (Throwable thrown) {
                    trouble.add(thrown);
                }
            }));
        }
        started.await();
        classifier.close();
        classifier.close();
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(trouble)
                .hasSize(4)
                .allSatisfy(thrown -> assertThat(thrown).isInstanceOf(IllegalStateException.class));
        assertRejected(IllegalStateException.class, () -> classifier.predict(image));
    }

    @Test
    void nothingIsLeftBehindByAnAnswerOrARefusal() throws IOException {
        Path bad = Files.writeString(folder.resolve("bad.jpg"), "no image");
        long before = Tensor.live();
        try (Classifier classifier = classifier("center:32")) {
            long open = Tensor.live();
            classifier.predict(TinyModel.image(1, 60, 50));
            assertRejected(UnreadableImageException.class, () -> classifier.predict(bad));
            assertThat(Tensor.live()).isEqualTo(open);
        }
        assertThat(Tensor.live()).isEqualTo(before);
    }

    @Test
    void aFileThatIsNoImageIsRefusedWithTheReadersReason() throws IOException {
        Path bad = Files.writeString(folder.resolve("bad.jpg"), "no image");
        Path thin = folder.resolve("thin.png");
        ImageIO.write(TinyModel.image(1, 2, 90).toBufferedImage(), "png", thin.toFile());
        try (Classifier classifier = classifier("center:32")) {
            assertThatExceptionOfType(UnreadableImageException.class)
                    .isThrownBy(() -> classifier.predict(bad))
                    .has(facts(bad, "JPEG"))
                    .satisfies(failed -> assertThat(failed.problem()).isEqualTo(Problem.UNKNOWN_FORMAT));
            assertRejected(UnreadableImageException.class, () -> classifier.predict(folder.resolve("absent.jpg")));
            assertThatExceptionOfType(UnreadableImageException.class)
                    .isThrownBy(() -> classifier.predict(thin))
                    .satisfies(failed -> assertThat(failed.problem()).isEqualTo(Problem.TOO_THIN));
            assertRejected(() -> classifier.predict(TinyModel.image(1, 2, 90)), "32");
        }
    }

    @Test
    void aModelOfBoxesTakesTheWholeImageForTheBox() {
        Image image = TinyModel.image(1, 60, 50);
        try (Classifier boxed = classifier("center:32+box");
                Classifier whole = classifier("center:32")) {
            assertThat(boxed.predict(image).logits())
                    .isEqualTo(whole.predict(image).logits());
        }
    }
}
