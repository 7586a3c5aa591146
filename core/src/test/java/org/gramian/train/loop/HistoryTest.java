package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HistoryTest {
    @TempDir
    private Path folder = Path.of("");

    private Path file() {
        return folder.resolve("history.csv");
    }

    private static EpochDone epoch(SplittableRandom random, int stage, int epoch) {
        return new EpochDone(
                stage,
                epoch,
                random.nextDouble() * Math.pow(10, random.nextInt(-9, 1)),
                random.nextDouble(100),
                random.nextDouble(),
                random.nextInt(7) / 7.0,
                random.nextDouble(5),
                random.nextBoolean(),
                random.nextBoolean() ? OptionalDouble.of(random.nextDouble() * 1e-6) : OptionalDouble.empty());
    }

    private static List<EpochDone> epochs(SplittableRandom random) {
        List<EpochDone> all = new ArrayList<>();
        for (int stage = 1; stage <= 2; stage++) {
            int count = random.nextInt(1, 6);
            for (int epoch = 0; epoch < count; epoch++) {
                all.add(epoch(random, stage, epoch));
            }
        }
        return all;
    }

    @RandomTest(times = 6)
    void epochsRoundTripExactly(Seed seed) throws IOException {
        Files.deleteIfExists(file());
        List<EpochDone> epochs = epochs(seed.random());
        History history = History.open(file());
        for (int i = 0; i < epochs.size(); i++) {
            history.add(epochs.get(i));
            assertThat(History.open(file()).epochs()).isEqualTo(epochs.subList(0, i + 1));
        }
        assertThat(Files.readAllLines(file())).hasSize(epochs.size() + 1);
    }

    @RandomTest(times = 6)
    void repeatedEpochsReplaceEarlierOnes(Seed seed) throws IOException {
        Files.deleteIfExists(file());
        SplittableRandom random = seed.random();
        List<EpochDone> epochs = epochs(random);
        int reported = random.nextInt(epochs.size() + 1);
        History before = History.open(file());
        for (EpochDone epoch : epochs.subList(0, reported)) {
            before.add(epoch(random, epoch.stage(), epoch.epoch()));
        }
        History after = History.open(file());
        for (EpochDone epoch : epochs) {
            after.add(epoch);
        }
        assertThat(History.open(file()).epochs()).isEqualTo(epochs);
    }

    @Test
    void otherFileIsRefusedAndKept() throws IOException {
        for (String text : List.of(
                "fruit,price\napple,3\n",
                "stage,epoch\n1,x\n",
                "stage,epoch,rate,loss,accuracy,judged_error,judged_loss,best\n1,1,0.5,2.0,0.25,0.75,1.5,true\n")) {
            Files.writeString(file(), text);
            assertThatThrownBy(() -> History.open(file()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("history.csv");
            assertThat(file()).hasContent(text);
        }
    }

    @Test
    void damagedTextIsRefusedWithoutReasonsOfTheParser() throws IOException {
        Path file = Files.writeString(folder.resolve("history.csv"), "stage,epoch\n\"1");
        assertThatThrownBy(() -> History.open(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("history.csv: expected a history")
                .message()
                .doesNotContain("Exception");
    }
}
