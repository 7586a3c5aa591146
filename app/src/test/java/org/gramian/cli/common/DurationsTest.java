package org.gramian.cli.common;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine.TypeConversionException;

class DurationsTest {
    @ParameterizedTest
    @CsvSource({"2w, 14d, 336 h", "1h30m, 90m, 1 h 30 min", "90s, 1m30s, 1 min 30 s", "0.5s, 0.500s, 1 s"})
    void timesAreReadAndWritten(String text, String same, String written) {
        Duration time = new Durations().convert(text);
        assertThat(time).isEqualTo(new Durations().convert(same));
        assertThat(Durations.text(time)).isEqualTo(written);
    }

    @Test
    void otherTextIsRejected() {
        assertThatThrownBy(() -> new Durations().convert("old"))
                .isInstanceOf(TypeConversionException.class)
                .hasMessage("expected a time such as 90s, 30m, 1h30m or 2w, found 'old'");
    }
}
