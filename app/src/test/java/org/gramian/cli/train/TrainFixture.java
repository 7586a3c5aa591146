package org.gramian.cli.train;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.cli.TinyTraining;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Small images, a folder for weights and one for the run, new for each test. */
abstract class TrainFixture {
    @TempDir
    Path root = Path.of("");

    TinyTraining tiny = new TinyTraining(Path.of(""));
    Path out = Path.of("");

    @BeforeEach
    final void createImages() throws IOException {
        tiny = TinyTraining.in(root);
        out = root.resolve("run");
    }
}
