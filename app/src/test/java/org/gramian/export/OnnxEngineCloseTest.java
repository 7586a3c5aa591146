package org.gramian.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.gramian.model.Engine;
import org.gramian.tensor.Shape;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OnnxEngineCloseTest {
    private static final Shape SHAPE = Shape.of(1, 3, 32, 32);

    private static float[][] scores(OnnxEngine engine) {
        return engine.compute(MemorySegment.ofArray(new float[3 * 32 * 32]), SHAPE, Engine.Rows.SCORES);
    }

    private static OnnxEngine engine(Path folder) throws IOException {
        Path file = folder.resolve("model.onnx");
        try (SmallModel small = SmallModel.of("average", 32)) {
            OnnxFile.write(file, small.model(), small.card(), OnnxFile.DEFAULT_OPSET);
        }
        return OnnxEngine.open(file, 1);
    }

    @Test
    void anEngineIsClosedIfAStepAfterOpeningFails(@TempDir Path folder) throws IOException {
        OnnxEngine engine = engine(folder);
        assertThatThrownBy(() -> OnnxEngine.closeOnFailure(engine, () -> {
                    throw new IOException("the draft cannot be deleted");
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("the draft cannot be deleted");
        assertThatThrownBy(() -> scores(engine)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void anEngineStaysOpenIfTheStepSucceeds(@TempDir Path folder) throws IOException {
        try (OnnxEngine engine = OnnxEngine.closeOnFailure(engine(folder), () -> {})) {
            assertThat(scores(engine)).hasNumberOfRows(1);
        }
    }

    @Test
    void aFailureOfCloseIsSuppressed() {
        AutoCloseable stuck = () -> {
            throw new IllegalStateException("stuck");
        };
        assertThatThrownBy(() -> OnnxEngine.closeOnFailure(stuck, () -> {
                    throw new OutOfMemoryError("none left");
                }))
                .isInstanceOf(OutOfMemoryError.class)
                .hasSuppressedException(new IllegalStateException("stuck"));
    }
}
