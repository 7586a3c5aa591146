package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.gramian.train.recipe.Improvement;
import org.gramian.train.recipe.ValidationScore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StageResultTest {
    private static final StageResult FIRST =
            new StageResult(1, 15, 19, 19, true, Optional.of(new Improvement(1.25, 1.21)), Optional.empty());
    private static final StageResult SECOND = new StageResult(2, 20, 20, 18, false, Optional.empty(), Optional.empty());

    @TempDir
    private Path folder = Path.of("");

    @Test
    void laterStageIsAddedAndEarlierOneReplacesFollowing() throws IOException {
        assertThat(StageResult.read(folder)).isEmpty();
        FIRST.write(folder);
        SECOND.write(folder);
        assertThat(StageResult.read(folder)).containsExactly(FIRST, SECOND);
        SECOND.write(folder);
        assertThat(StageResult.read(folder)).containsExactly(FIRST, SECOND);
        FIRST.write(folder);
        assertThat(StageResult.read(folder)).containsExactly(FIRST);
    }

    @Test
    void improvementHasAdvice() {
        assertThat(FIRST.advice()).hasValueSatisfying(facts("head", "validation loss", "3.2", 2, 19, "--epochs 38"));
        assertThat(new StageResult(2, 2, 2, 2, false, Optional.of(new Improvement(1, 0.9)), Optional.empty()).advice())
                .hasValueSatisfying(facts("fine-tuning", "training loss", "10.0", "--fine-tune 4"));
        assertThat(SECOND.advice()).isEmpty();
    }

    @Test
    void refitRoundTrips() throws IOException {
        StageResult refit = FIRST.with(new StageResult.Refit(
                "svm, C 10",
                true,
                Optional.of(new ValidationScore(0.2, 0.7)),
                Optional.of(new ValidationScore(0.1, 0.6))));
        refit.write(folder);
        SECOND.with(new StageResult.Refit("svm", false, Optional.empty(), Optional.empty()))
                .write(folder);
        assertThat(StageResult.read(folder)).first().isEqualTo(refit);
        assertThat(StageResult.read(folder).getLast().refit().orElseThrow().solved())
                .isEmpty();
    }

    @Test
    void aDamagedFileIsNamed() throws IOException {
        Files.writeString(folder.resolve(StageResult.FILE), "{");
        assertThatThrownBy(() -> StageResult.read(folder))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(StageResult.FILE);
    }
}
