package org.gramian.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.gramian.basis.RegularFile.NotRegularException;
import org.gramian.model.ModelFileException;
import org.gramian.run.config.ConfigKey;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Configuration files and lock of a run's folder. */
class ExistingRunTest {
    @TempDir
    private Path folder = Path.of("");

    private SmallRun run = new SmallRun(folder);

    @BeforeEach
    void paint() throws IOException {
        run = SmallRun.in(folder);
    }

    private ExistingRun begun() {
        return new ExistingRun(run.place());
    }

    @Test
    void storedConfigurationRepeatsTheRun() throws IOException, InterruptedException {
        assertThat(begun().exists()).isFalse();
        run.train(List.of());
        assertThat(begun().exists()).isTrue();
        assertThat(begun().settings().values().keySet()).containsExactlyElementsOf(ConfigKey.names());
        assertThat(run.trainer().with(begun().settings()).train(run.place()).early())
                .isEmpty();
    }

    @Test
    void selectedFoldsAreStoredUntilAllAreSelected() throws IOException, InterruptedException {
        run.train(List.of("2"));
        RunPlan whole = run.plan();
        assertThat(begun().rest(whole).folds()).containsExactly(whole.folds().get(1));
        assertThat(run.place().resolve("folds.txt"))
                .hasContent(whole.folds().get(1).name());
        run.train(List.of("1"));
        assertThat(begun().rest(whole)).isEqualTo(whole);
        assertThat(run.place().resolve("folds.txt")).doesNotExist();
        run.train(List.of("2"));
        assertThat(begun().rest(whole))
                .as("a run of all folds stays one of all folds")
                .isEqualTo(whole);
    }

    @Test
    void unknownFoldNamesAreRefused() throws IOException, InterruptedException {
        run.train(List.of("2"));
        Files.writeString(run.place().resolve("folds.txt"), "fold of gold\n");
        RunPlan whole = run.plan();
        assertThatThrownBy(() -> begun().rest(whole))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("folds.txt")
                .hasMessageContaining("'fold of gold'");
    }

    @Test
    void folderIsLockedByOneRun() throws IOException, InterruptedException {
        Files.createDirectories(run.place());
        try (ExistingRun.Lock _ = begun().lock()) {
            for (int i = 0; i < 2; i++) { // the first refusal must not have given back the lock
                assertThatThrownBy(() -> run.train(List.of()))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining(run.place().toString());
            }
            assertThat(begun().exists()).isFalse();
        }
        run.train(List.of("1"));
        assertThat(begun().exists()).isTrue();
    }

    /** A finished run with a damaged model was "resumed" without a word. */
    @Test
    void finishedModelIsVerified() throws IOException, InterruptedException {
        run.train(List.of("1"));
        Path model = begun().folder().resolve("fold-1/model.safetensors");
        byte[] content = Files.readAllBytes(model);
        content[content.length - 3] ^= 1;
        Files.write(model, content);
        assertThatThrownBy(() -> run.train(List.of("1")))
                .isInstanceOf(ModelFileException.class)
                .hasMessageContaining("damaged");
    }

    /** Opening a pipe would block for ever. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void lockAndDocumentsAreFiles() throws IOException {
        Files.createDirectories(run.place());
        for (String name : List.of(".lock", "sample.json")) {
            Files.createSymbolicLink(run.place().resolve(name), Path.of("/dev/zero"));
        }
        assertThatThrownBy(() -> begun().lock()).isInstanceOf(NotRegularException.class);
        assertThatThrownBy(() -> begun().sample()).isInstanceOf(NotRegularException.class);
    }
}
