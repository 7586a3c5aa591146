package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.gramian.cli.common.ExitCode;
import org.gramian.cli.train.TrainOptionsTest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptionHintsTest {
    @ParameterizedTest
    @CsvSource({
        "--momentum, --set optimizer.momentum=NUMBER",
        "--accumulate, --set optimizer.accumulate=N",
        "--fine-tun, --fine-tune",
        "--epcohs, --epochs",
        "--pool, --pooling",
        "--learning-rat, --learning-rate"
    })
    void suggestsOptionsAndKeys(String typed, String meant) {
        Run run = Run.of("train", "nowhere", typed + "=1");
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).contains("did you mean '" + meant + "'?").contains("--help");
    }

    @ParameterizedTest
    @CsvSource({
        "--learning-rate=0.5, stage1.rate, 0.5, --lr",
        "--batch-size=7, optimizer.batch, 7, --batch",
        "--imgsz=96, data.crops, resize:96, --image-size",
        "--img-size=96, data.crops, resize:96, --image-size"
    })
    void aliasIsTheSameOption(String argument, String key, String value, String origin) {
        Run run = Run.of("train", "nowhere", argument, argument);
        assertThat(run.err()).contains("only once");
        assertThat(TrainOptionsTest.requested(argument).values()).hasEntrySatisfying(key, setting -> {
            assertThat(setting.text()).isEqualTo(value);
            assertThat(setting.origin()).isEqualTo(origin);
        });
    }
}
