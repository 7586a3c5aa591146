package org.gramian.image.dataset.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import org.gramian.image.dataset.DatasetTrees;
import org.gramian.image.dataset.layout.Layouts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ProtocolsTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "thirds:1",
                "thirds:3",
                "dtd-official:1..10",
                "dtd-official:4",
                "dtd-official:2..3",
                "kth-1v3",
                "kth-3v1",
                "cub-official",
                "aircraft-official",
                "aircraft-official:trainval",
                "holdout:0.2",
                "holdout:0.00001",
                "kfold:2",
                "kfold:100",
                "half:14",
                "given"
            })
    void aProtocolPrintsItselfBack(String text) {
        assertThat(Protocols.parse(text).text()).isEqualTo(text);
        assertThat(Protocols.parse(" " + text.toUpperCase(Locale.ROOT))).isEqualTo(Protocols.parse(text));
    }

    @Test
    void everyProtocolDescribesItselfAndHasADefault() {
        assertThat(Protocols.all()).hasSize(10).allSatisfy(protocol -> {
            assertThat(Protocols.parse(protocol.name()).text()).startsWith(protocol.name());
            assertThat(protocol.form()).startsWith(protocol.name());
            assertThat(protocol.meaning()).isNotBlank();
        });
        assertThat(Protocols.parse("dtd-official")).isEqualTo(new DtdOfficial(1, 10));
        assertThat(Protocols.parse("half")).isEqualTo(new Half(14));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
                    kfolds:5 | there is no protocol 'kfolds:5' (did you mean 'kfold'?); the protocols are holdout, kfold
                    "" | there is no protocol ''; the protocols are
                    kfold:five | 'kfold:five' is no protocol: expected a whole number, found 'five'; it is written kfold[:5]
                    kfold:1 | 'kfold:1' is no protocol: expected kfold with a whole number from 2 to 100, found 1
                    kfold:101 | 'kfold:101' is no protocol: expected kfold with a whole number from 2 to 100, found 101
                    thirds:4 | 'thirds:4' is no protocol: expected thirds with a whole number from 1 to 3, found 4
                    half:0 | 'half:0' is no protocol: expected half with a whole number from 1 to 100, found 0
                    holdout:1 | 'holdout:1' is no protocol: expected holdout:<share> with a share above 0 and below 1
                    holdout:20% | 'holdout:20%' is no protocol: expected a number such as 0.2, found '20%'
                    holdout: | 'holdout:' is no protocol: expected a number such as 0.2, found ''
                    dtd-official:0 | 'dtd-official:0' is no protocol: expected dtd-official with a whole number from 1 to 10
                    dtd-official:3..2 | 'dtd-official:3..2' is no protocol: expected dtd-official:3..2 with a whole number from 3
                    dtd-official:1..11 | 'dtd-official:1..11' is no protocol
                    given:x | 'given:x' is no protocol: found an argument where none is wanted; it is written given
                    aircraft-official:all | 'aircraft-official:all' is no protocol: expected trainval, found 'all'
                    """)
    void aTextThatIsNoProtocolIsRefused(String text, String message) {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> Protocols.parse(text))
                .withMessageStartingWith(message);
    }

    @Test
    void picturesOfOnesOwnAreHeldOutAndFmdIsDividedIntoThirds(@TempDir Path folders, @TempDir Path fmd)
            throws IOException {
        DatasetTrees.folders(folders, 3, "a", "b");
        assertThat(Protocols.usual(Layouts.open(folders)).text()).isEqualTo("holdout:0.2");
        DatasetTrees.fmd(fmd, 3, "a", "b");
        assertThat(Protocols.usual(Layouts.open(fmd)).text()).isEqualTo("thirds:3");
    }
}
