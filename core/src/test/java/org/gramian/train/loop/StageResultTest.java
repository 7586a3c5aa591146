package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.assertj.core.data.Offset;
import org.gramian.train.loop.StageResult.Improvement;
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
    void aDamagedFileIsNamed() throws IOException {
        Files.writeString(folder.resolve(StageResult.FILE), "{");
        assertThatThrownBy(() -> StageResult.read(folder))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(StageResult.FILE);
    }

    private static List<ValidationScore> losses(double... losses) {
        return Arrays.stream(losses)
                .mapToObj(loss -> new ValidationScore(0.5, loss))
                .toList();
    }

    private static boolean isRelevant(double... losses) {
        return Improvement.of(losses(losses)).isRelevant();
    }

    @Test
    void lastTwoEpochsAreComparedWithTheBestBefore() {
        Improvement found = Improvement.of(losses(3, 1, 2, 0.9, 0.95));
        assertThat(found).isEqualTo(new Improvement(1, 0.9));
        assertThat(found.share()).isCloseTo(0.1, Offset.offset(1e-12));
        assertThat(Improvement.of(losses(2, 1))).isEqualTo(new Improvement(2, 1));
    }

    @Test
    void itIsRelevantBeyondOnePercentAndBeyondRounding() {
        assertThat(isRelevant(1, 0.995, 0.985)).isTrue();
        assertThat(isRelevant(1, 0.995, 0.991)).as("less than 1 %").isFalse();
        assertThat(isRelevant(1, 0.5, 0.6, 0.7)).as("better before").isFalse();
        assertThat(isRelevant(0.01, 0.01, 0.009)).as("a loss near 0").isFalse();
        assertThat(isRelevant(1, 1.1, 1.2)).as("a loss that rises").isFalse();
        assertThat(isRelevant()).isFalse();
        assertThat(isRelevant(1)).isFalse();
    }
}
