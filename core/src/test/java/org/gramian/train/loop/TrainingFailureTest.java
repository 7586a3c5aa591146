package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;
import static org.gramian.train.loop.Recipes.stage;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.gramian.image.dataset.Sample;
import org.gramian.model.UnreadableImageException;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.testing.PaintedImages;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.event.TrainEvent.Task;
import org.gramian.train.loop.SmallTraining.Means;
import org.gramian.train.loop.SmallTraining.Outcome;
import org.gramian.train.loop.TrainingData.Parts;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Interrupted trainings, and unusable checkpoints. */
class TrainingFailureTest {
    private static final Duration NEVER = Duration.ofDays(1);

    @TempDir
    private Path folder = Path.of("");

    private SmallTraining training = SmallTraining.of(
            Recipes.standard(), new Parts(List.of(new Sample("none", 0, folder)), List.of(), List.of()));

    @BeforeEach
    void paint() throws IOException {
        Parts parts = SmallTraining.divide(PaintedImages.folders(folder.resolve("images"), 5, 6, 7));
        training = SmallTraining.of(Recipes.standard(), parts);
    }

    @Test
    void hashedFilesAreReportedAndMayBeCancelled() throws IOException {
        training = training.with(new Means(2, Optional.of(folder.resolve("cache"))));
        Cancellation breaks = Cancellation.onRequest();
        List<TrainEvent> reported = new ArrayList<>();
        assertThatThrownBy(() -> training.run(
                        event -> {
                            reported.add(event);
                            breaks.cancel();
                        },
                        breaks,
                        Optional.empty()))
                .isInstanceOf(InterruptedTrainingException.class);
        assertThat(reported).singleElement().isInstanceOfSatisfying(Task.class, first -> {
            assertThat(first.done()).isEqualTo(1);
            assertThat(first.total()).isEqualTo(training.parts().training().size());
        });
        String task = ((Task) reported.getFirst()).name();
        List<Task> looks = training.run().events(Task.class).stream()
                .filter(event -> event.name().equals(task))
                .toList();
        List<Task> wanted = new ArrayList<>();
        for (List<Sample> part : List.of(
                training.parts().training(),
                training.parts().validation(),
                training.parts().test())) {
            for (int i = 1; i <= part.size(); i++) {
                wanted.add(new Task(task, i, part.size()));
            }
        }
        assertThat(looks).isEqualTo(wanted);
    }

    @Test
    void lostImageIsNamed() throws IOException {
        SmallTraining second = training.with(Recipes.of(stage(0, 0, "constant", 0), stage(2, 0.05, "constant", 0)));
        for (Sample lost : List.of(
                training.parts().training().getFirst(),
                training.parts().validation().getFirst())) {
            byte[] content = Files.readAllBytes(lost.file());
            Files.writeString(lost.file(), "not an image");
            assertThatThrownBy(second::run)
                    .isInstanceOf(UncheckedIOException.class)
                    .cause()
                    .isInstanceOf(UnreadableImageException.class)
                    .has(facts(lost.file()));
            Files.write(lost.file(), content);
        }
    }

    @Test
    void cancelledTrainingLeavesACheckpointAndNoModel() throws IOException {
        Checkpointing checkpointing = SmallTraining.checkpointing(folder, NEVER);
        Outcome outcome = training.brokenAfter(1, checkpointing).orElseThrow();
        assertThat(outcome.early()).hasValue(Cancellation.Reason.CANCELLED);
        assertThat(outcome.stages()).isEmpty();
        assertThat(checkpointing.file().orElseThrow()).isRegularFile();
    }

    @Test
    void checkpointOfAnotherConfigurationIsRefused() throws IOException {
        Checkpointing checkpointing = SmallTraining.checkpointing(folder, NEVER);
        training.brokenAfter(3, checkpointing);
        byte[] before = Files.readAllBytes(checkpointing.file().orElseThrow());
        Checkpointing other = new Checkpointing(checkpointing.file().orElseThrow(), "other images", NEVER);
        assertThatThrownBy(() -> training.run(_ -> {}, Cancellation.onRequest(), Optional.of(other)))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(checkpointing.file().orElseThrow().toString());
        assertThat(checkpointing.file().orElseThrow()).hasBinaryContent(before);
    }

    @Test
    void truncatedCheckpointIsRefused() throws IOException {
        Checkpointing checkpointing = SmallTraining.checkpointing(folder, NEVER);
        training.brokenAfter(3, checkpointing);
        Files.deleteIfExists(Checkpointing.previous(checkpointing.file().orElseThrow())); // else it is resumed
        byte[] all = Files.readAllBytes(checkpointing.file().orElseThrow());
        for (int length : new int[] {0, 1, 7, 8, 9, 200, all.length / 2, all.length - 1}) {
            Files.write(checkpointing.file().orElseThrow(), Arrays.copyOf(all, length));
            requireRefusal(checkpointing);
        }
        Files.write(checkpointing.file().orElseThrow(), all);
        assertThat(training.run(_ -> {}, Cancellation.onRequest(), Optional.of(checkpointing))
                        .model())
                .isEqualTo(training.run().model());
    }

    private void requireRefusal(Checkpointing checkpointing) {
        assertThatThrownBy(() -> training.run(_ -> {}, Cancellation.onRequest(), Optional.of(checkpointing)))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(checkpointing.file().orElseThrow().toString());
    }

    /** Writes a checkpoint again with something changed. */
    private interface Change {
        void apply(Map<String, StoredTensor> tensors, Map<String, String> metadata);
    }

    private static void change(Checkpointing checkpointing, Change change) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            TensorFile file = Safetensors.read(checkpointing.file().orElseThrow(), arena);
            Map<String, StoredTensor> tensors = new LinkedHashMap<>(file.tensors());
            Map<String, String> metadata = new LinkedHashMap<>(file.metadata());
            change.apply(tensors, metadata);
            Safetensors.writeChecked(checkpointing.file().orElseThrow(), tensors, metadata);
        }
    }

    @Test
    void incompleteCheckpointIsRefused() throws IOException {
        Checkpointing checkpointing = SmallTraining.checkpointing(folder, NEVER);
        training.brokenAfter(3, checkpointing);
        Files.deleteIfExists(Checkpointing.previous(checkpointing.file().orElseThrow())); // else it is resumed
        byte[] whole = Files.readAllBytes(checkpointing.file().orElseThrow());
        List<Change> changes = List.of(
                (_, metadata) -> metadata.remove("format"),
                (_, metadata) -> metadata.put("version", "1"),
                (_, metadata) -> metadata.remove("optimizer-steps"),
                (_, metadata) -> metadata.put("optimizer-steps", "-3"),
                (_, metadata) -> metadata.remove("position"),
                (_, metadata) -> metadata.put("position", "{\"stage\":3}"),
                (_, metadata) ->
                        metadata.computeIfPresent("position", (_, text) -> text.replace("\"kept\":0", "\"kept\":9")),
                (tensors, _) -> tensors.remove("value.head.classifier.bias"),
                (tensors, _) -> tensors.remove("best.head.classifier.bias"),
                (tensors, _) -> tensors.computeIfPresent(
                        "velocity.head.classifier.bias", (_, _) -> tensors.get("value.head.classifier.weight")));
        for (Change change : changes) {
            Files.write(checkpointing.file().orElseThrow(), whole);
            change(checkpointing, change);
            assertThat(Files.readAllBytes(checkpointing.file().orElseThrow())).isNotEqualTo(whole);
            requireRefusal(checkpointing);
        }
    }

    @Test
    void otherFileInPlaceOfTheCheckpointIsRefused() throws IOException {
        Checkpointing checkpointing = SmallTraining.checkpointing(folder, NEVER);
        Files.writeString(
                checkpointing.file().orElseThrow(), "my shopping list: milk, bread, eggs, and a bag of apples");
        requireRefusal(checkpointing);
        assertThat(checkpointing.file().orElseThrow()).content().startsWith("my shopping list");
        Files.delete(checkpointing.file().orElseThrow());
        Files.createDirectory(checkpointing.file().orElseThrow());
        requireRefusal(checkpointing);
    }

    @Test
    void failedCheckpointKeepsTheOlderOne() throws IOException {
        Path place = Files.createDirectory(folder.resolve("place"));
        Path away = folder.resolve("away");
        assertThatThrownBy(() -> training.run(
                        event -> {
                            if (event instanceof EpochDone done && done.epoch() == 1) {
                                move(place, away);
                            }
                        },
                        Cancellation.onRequest(),
                        Optional.of(SmallTraining.checkpointing(place, NEVER))))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(place.toString());
        Outcome last =
                training.run(_ -> {}, Cancellation.onRequest(), Optional.of(SmallTraining.checkpointing(away, NEVER)));
        assertThat(last.events(EpochDone.class).getFirst().epoch()).isEqualTo(1);
        assertThat(last.model()).isEqualTo(training.run().model());
    }

    private static void move(Path from, Path to) {
        try {
            Files.move(from, to);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void nonFiniteLossIsReportedWithItsPosition() {
        for (int number : List.of(1, 2)) {
            SmallTraining absurd = training.with("average")
                    .with(Recipes.of(stage(number == 1 ? 3 : 0, 1e35, "constant", 0), stage(3, 1e35, "constant", 0)));
            assertThatThrownBy(absurd::run)
                    .isInstanceOf(NonFiniteLossException.class)
                    .hasMessageMatching("(?s)\\D*\\b" + number + "\\D*[1-3]\\D*[12]\\b.*");
        }
    }
}
