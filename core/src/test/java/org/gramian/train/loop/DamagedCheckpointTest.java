package org.gramian.train.loop;

import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.train.loop.Recipes.stage;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;
import org.gramian.testing.PaintedImages;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A damaged checkpoint is never resumed from: the one before it is, and the model is the same to the byte. */
class DamagedCheckpointTest {
    @TempDir
    private Path folder = Path.of("");

    private Checkpointing checkpointing = Checkpointing.every(Duration.ZERO);

    @BeforeEach
    void interrupt() throws IOException {
        SmallTraining small = SmallTraining.of(
                Recipes.of(stage(2, 0.5, "constant", 0), stage(1, 0.02, "constant", 0)),
                SmallTraining.divide(PaintedImages.folders(folder.resolve("images"), 5, 6, 7)));
        checkpointing = SmallTraining.checkpointing(folder, Duration.ZERO);
        var _ = small.brokenAfter(4, checkpointing);
    }

    private Path file() {
        return checkpointing.file().orElseThrow();
    }

    @Test
    void damagedCheckpointIsReported() throws IOException {
        byte[] bytes = Files.readAllBytes(file());
        bytes[bytes.length - 1] ^= 1;
        Files.write(file(), bytes);
        assertRejected(TensorFileException.class, () -> checkpointing.find(), "SHA-256", "damaged");
    }

    @Test
    void aCheckpointWithoutChecksumsIsRefused() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            TensorFile stored = Safetensors.read(file(), arena);
            Safetensors.write(file(), stored.tensors(), stored.metadata());
        }
        assertRejected(TensorFileException.class, () -> checkpointing.find(), "checksums", "start a new run");
    }
}
