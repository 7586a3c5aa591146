package org.gramian.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.Gallery.Item;
import org.gramian.gallery.Gallery.NearestImages;
import org.gramian.gallery.Gallery.Subset;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.inspect.SpdInspection;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.Task;
import org.gramian.train.loop.Cancellation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Galleries of runs of 2 classes with 6 images each. */
class FoldGalleryTest {
    @TempDir
    private Path folder = Path.of("");

    private final List<TrainEvent> events = new ArrayList<>();

    private SmallRun run() throws IOException {
        return SmallRun.in(folder).with("data.protocol", Protocol.parse("holdout:0.34"));
    }

    private static Gallery gallery(SmallRun run) throws IOException {
        return Gallery.beside(run.place().resolve("model.safetensors")).orElseThrow();
    }

    private List<String> remarks() {
        return events.stream()
                .flatMap(event -> event instanceof TrainEvent.Warning(String text) ? Stream.of(text) : Stream.of())
                .toList();
    }

    @Test
    void galleryHasEveryImageOnce() throws IOException, InterruptedException {
        SmallRun run = run();
        run.train(List.of());
        Gallery gallery = gallery(run);
        List<Item> expected = new ArrayList<>();
        FoldPlan fold = run.plan().folds().getFirst();
        fold.parts().training().forEach(one -> expected.add(new Item(one.name(), one.label(), Subset.TRAINING)));
        fold.parts().validation().forEach(one -> expected.add(new Item(one.name(), one.label(), Subset.VALIDATION)));
        fold.parts().test().forEach(one -> expected.add(new Item(one.name(), one.label(), Subset.TEST)));
        assertThat(gallery.items()).isEqualTo(expected);
        assertThat(gallery.classes()).isEqualTo(run.dataset().classes());
        for (int i = 0; i < expected.size(); i++) {
            assertThat(new ImageReader(ImageLimits.DEFAULT).read(gallery.thumbnail(i)))
                    .isInstanceOf(ReadResult.Readable.class);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void imageFindsItself(int fineTuning) throws IOException, InterruptedException {
        SmallRun run = run().with("stage2.epochs", fineTuning);
        run.train(List.of());
        Gallery gallery = gallery(run);
        try (Classifier classifier = Classifier.load(run.place().resolve("model.safetensors"))) {
            List<Sample> training = run.plan().folds().getFirst().parts().training();
            NearestImages search = NearestImages.of(gallery);
            List<ImageSource> images = training.stream()
                    .map(sample -> ImageSource.of(sample.file()))
                    .toList();
            classifier.run(images, Set.of(Engine.Rows.DESCRIPTORS), (index, result) -> {
                float[][] crops =
                        assertInstanceOf(ImageResult.Computed.class, result).of(Engine.Rows.DESCRIPTORS);
                var nearest = search.nearest(crops, 1).getFirst();
                assertThat(nearest.index()).isEqualTo(index);
                assertThat(nearest.distance()).isLessThan(1e-3);
            });
        }
    }

    @Test
    void galleryOfAFinishedFoldIsAddedLater() throws IOException, InterruptedException {
        SmallRun run = run();
        run.train(List.of());
        Path file = run.place().resolve(Gallery.FILE);
        byte[] whole = Files.readAllBytes(file);
        byte[] model = Files.readAllBytes(run.place().resolve("model.safetensors"));
        for (byte[] damaged : new byte[][] {new byte[0], new byte[] {1, 2, 3}}) {
            Files.write(file, damaged);
            run.train(List.of());
            assertThat(Files.readAllBytes(file)).isEqualTo(whole);
        }
        Path inspection = run.place().resolve(SpdInspection.FILE);
        String inspected = Files.readString(inspection);
        Files.delete(file);
        Files.writeString(inspection, "{}");
        run.train(List.of());
        assertThat(Files.readAllBytes(file)).isEqualTo(whole);
        assertThat(inspection).hasContent(inspected);
        assertThat(Files.readAllBytes(run.place().resolve("model.safetensors"))).isEqualTo(model);
    }

    @Test
    void galleryCanBeDisabled() throws IOException, InterruptedException {
        SmallRun run = run().with("gallery", false);
        run.train(List.of());
        assertThat(run.place().resolve(Gallery.FILE)).doesNotExist();
        assertThat(run.place().resolve(SpdInspection.FILE)).doesNotExist();
        // It decides nothing of the model, so that the run can go on with another wish.
        run.with("gallery", true).train(List.of());
        assertThat(gallery(run).items()).hasSize(12);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void interruptionCostsOnlyTheGallery(int task) throws IOException, InterruptedException {
        SmallRun run = run();
        Cancellation breaks = Cancellation.onRequest();
        Set<String> tasks = new HashSet<>(); // since the test
        Consumer<TrainEvent> stop = event -> {
            events.add(event);
            if (event instanceof Task now && events.stream().anyMatch(TrainEvent.Evaluated.class::isInstance)) {
                tasks.add(now.name());
                if (tasks.size() == task) {
                    breaks.cancel();
                }
            }
        };
        RunResult broken = run.trainer(stop, breaks).train(run.place());
        assertThat(broken.early()).contains(Cancellation.Reason.CANCELLED);
        assertThat(broken.folds()).hasSize(1);
        assertThat(run.place().resolve(Gallery.FILE)).doesNotExist();
        assertThat(run.train(List.of()).early()).isEmpty();
        assertThat(gallery(run).items()).hasSize(12);
    }

    @Test
    void lostImageCostsOnlyTheGallery() throws IOException, InterruptedException {
        SmallRun run = run();
        Path lost = run.plan().folds().getFirst().parts().training().getFirst().file();
        Consumer<TrainEvent> lose = event -> {
            events.add(event);
            if (event instanceof TrainEvent.Evaluated) {
                try {
                    Files.deleteIfExists(lost);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }
        };
        RunResult result = run.trainer(lose, Cancellation.onRequest()).train(run.place());
        assertThat(result.folds()).hasSize(1);
        assertThat(result.early()).isEqualTo(Optional.empty());
        assertThat(run.place().resolve("model.safetensors")).exists();
        assertThat(run.place().resolve(Gallery.FILE)).doesNotExist();
        assertThat(remarks()).anyMatch(text -> text.contains("gallery") && text.contains("--resume"));
    }
}
