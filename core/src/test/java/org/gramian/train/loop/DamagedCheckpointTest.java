package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.train.loop.Recipes.stage;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.SplittableRandom;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;
import org.gramian.testing.PaintedImages;
import org.gramian.train.loop.SmallTraining.Outcome;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A damaged checkpoint is never resumed from: the one before it is, and the model is the same to the byte. */
class DamagedCheckpointTest {
    private static final int FLIPS = Boolean.getBoolean("gramian.full") ? 200 : 4;

    @TempDir
    private Path folder = Path.of("");

    private Optional<SmallTraining> training = Optional.empty();
    private Checkpointing checkpointing = Checkpointing.every(Duration.ZERO);

    @BeforeEach
    void interrupt() throws IOException {
        SmallTraining small = SmallTraining.of(
                Recipes.of(stage(2, 0.5, "constant", 0), stage(1, 0.02, "constant", 0)),
                SmallTraining.divide(PaintedImages.folders(folder.resolve("images"), 5, 6, 7)));
        training = Optional.of(small);
        checkpointing = SmallTraining.checkpointing(folder, Duration.ZERO);
        var _ = small.brokenAfter(4, checkpointing);
        assertThat(Checkpointing.previous(file())).isRegularFile();
    }

    private Path file() {
        return checkpointing.file().orElseThrow();
    }

    private static void flip(Path file, int bit) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        bytes[bit / 8] ^= (byte) (1 << bit % 8);
        Files.delete(file); // the checkpoint before may be the same file under another name
        Files.write(file, bytes);
    }

    private Outcome resumed() throws IOException {
        return training.orElseThrow().run(_ -> {}, Cancellation.onRequest(), Optional.of(checkpointing));
    }

    @Test
    void theCheckpointBeforeADamagedOneIsResumed() throws IOException {
        byte[] model = training.orElseThrow().run().model();
        Path last = Files.copy(file(), folder.resolve("last"));
        Path before = Files.copy(Checkpointing.previous(file()), folder.resolve("before"));
        assertThat(Files.mismatch(last, before)).isNotNegative();
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < FLIPS; i++) {
            checkpointing.remove();
            Files.copy(last, file());
            Files.copy(before, Checkpointing.previous(file()));
            flip(file(), random.nextInt(Math.toIntExact(8 * Files.size(file()))));
            try (Checkpointing.Checkpoint found = checkpointing.find().orElseThrow()) {
                assertThat(found.steps()).isPositive();
            }
            assertThat(Files.mismatch(file(), before)).isEqualTo(-1);
            if (i == 0) {
                assertThat(resumed().model()).isEqualTo(model);
            }
        }
    }

    @Test
    void twoDamagedCheckpointsAreReported() throws IOException {
        flip(file(), 9999);
        flip(Checkpointing.previous(file()), 9999);
        assertRejected(TensorFileException.class, () -> checkpointing.find(), "checkpoint", "both", "damaged", "new");
    }

    @Test
    void aDamagedCheckpointWithoutAnEarlierOneIsReported() throws IOException {
        flip(file(), 8 * Math.toIntExact(Files.size(file())) - 1);
        Files.delete(Checkpointing.previous(file()));
        assertRejected(TensorFileException.class, () -> checkpointing.find(), "SHA-256", "damaged");
    }

    @Test
    void aCheckpointWithoutChecksumsIsRefused() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            TensorFile stored = Safetensors.read(file(), arena);
            Safetensors.write(file(), stored.tensors(), stored.metadata());
        }
        Files.delete(Checkpointing.previous(file()));
        assertRejected(TensorFileException.class, () -> checkpointing.find(), "checksums", "start a new run");
    }

    @Test
    void bothCheckpointsAreRemovedAtTheEnd() throws IOException {
        assertThat(resumed().early()).isEmpty();
        checkpointing.remove();
        assertThat(file()).doesNotExist();
        assertThat(Checkpointing.previous(file())).doesNotExist();
    }
}
