package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;
import static org.gramian.train.loop.Recipes.stage;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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
import org.gramian.tensor.file.TensorFileException;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.loop.SmallTraining.Outcome;
import org.junit.jupiter.api.Test;

/** Interrupted trainings, and unusable checkpoints. */
class TrainingFailureTest extends PaintedParts {
    private static final Duration NEVER = Duration.ofDays(1);

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
    void checkpointOfAnotherConfigurationIsRefused() throws IOException {
        Path file = interrupted();
        byte[] before = Files.readAllBytes(file);
        requireRefusal(new Checkpointing(file, "other images", NEVER));
        assertThat(file).hasBinaryContent(before);
    }

    @Test
    void damagedCheckpointIsRefused() throws IOException {
        Path file = interrupted();
        byte[] all = Files.readAllBytes(file);
        for (int length : new int[] {0, 1, 7, 8, 9, 200, all.length / 2, all.length - 1}) {
            Files.write(file, Arrays.copyOf(all, length));
            requireRefusal(checkpointing());
        }
        byte[] flipped = all.clone();
        flipped[all.length - 1] ^= 1;
        Files.write(file, flipped);
        assertRejected(TensorFileException.class, () -> checkpointing().find(), "SHA-256", "damaged");
        Files.write(file, all);
        try (Arena arena = Arena.ofConfined()) {
            TensorFile stored = Safetensors.read(file, arena);
            Safetensors.write(file, stored.tensors(), stored.metadata());
        }
        assertRejected(TensorFileException.class, () -> checkpointing().find(), "checksums", "start a new run");
        Files.write(file, all);
        assertThat(training.run(_ -> {}, Cancellation.onRequest(), Optional.of(checkpointing()))
                        .model())
                .isEqualTo(training.run().model());
    }

    /** Interrupts the training after three steps; returns its only checkpoint. */
    private Path interrupted() throws IOException {
        training.brokenAfter(3, checkpointing());
        Path file = checkpointing().file().orElseThrow();
        return file;
    }

    private Checkpointing checkpointing() {
        return SmallTraining.checkpointing(folder, NEVER);
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

    private static void change(Path file, Change change) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            TensorFile stored = Safetensors.read(file, arena);
            Map<String, StoredTensor> tensors = new LinkedHashMap<>(stored.tensors());
            Map<String, String> metadata = new LinkedHashMap<>(stored.metadata());
            change.apply(tensors, metadata);
            Safetensors.writeChecked(file, tensors, metadata);
        }
    }

    @Test
    void incompleteCheckpointIsRefused() throws IOException {
        Path file = interrupted();
        byte[] whole = Files.readAllBytes(file);
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
            Files.write(file, whole);
            change(file, change);
            assertThat(Files.readAllBytes(file)).isNotEqualTo(whole);
            requireRefusal(checkpointing());
        }
    }

    @Test
    void otherFileInPlaceOfTheCheckpointIsRefused() throws IOException {
        Path file = checkpointing().file().orElseThrow();
        Files.writeString(file, "my shopping list: milk, bread, eggs, and a bag of apples");
        requireRefusal(checkpointing());
        assertThat(file).content().startsWith("my shopping list");
        Files.delete(file);
        Files.createDirectory(file);
        requireRefusal(checkpointing());
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
