package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.cli.Run;
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

    /** Requires exit code 0. */
    static Run done(Run run) {
        assertThat(run.code()).as(run.err()).isZero();
        return run;
    }
}
