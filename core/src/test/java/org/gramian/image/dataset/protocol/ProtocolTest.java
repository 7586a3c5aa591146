package org.gramian.image.dataset.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

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

final class ProtocolTest {
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
                "holdout:1e-5",
                "kfold:2",
                "kfold:100",
                "half:14",
                "given"
            })
    void parseReadsText(String text) {
        assertThat(Protocol.parse(text).text()).isEqualTo(text);
        assertThat(Protocol.parse(" " + text.toUpperCase(Locale.ROOT))).isEqualTo(Protocol.parse(text));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
        kfolds:5 | kfolds:5 kfold kfold holdout
        "" | '' holdout kfold
        kfold:five | kfold:five five five kfold[:5]
        kfold:1 | kfold:1 2 100 1 1
        kfold:101 | kfold:101 2 100 101 101
        thirds:4 | thirds:4 1 3 4 4
        half:0 | half:0 1 100 0 0
        holdout:1 | holdout:1 0 1 1
        holdout:20% | holdout:20% 0.2 20% 20%
        holdout: | holdout: 0.2
        dtd-official:0 | dtd-official:0 1 10
        dtd-official:3..2 | dtd-official:3..2 3
        dtd-official:1..11 | dtd-official:1..11
        given:x | given:x given given
        aircraft-official:all | aircraft-official:all trainval all all
        """)
    void rejectsInvalidText(String text, String values) {
        assertRejected(() -> Protocol.parse(text), (Object[]) values.split(" "));
    }

    @Test
    void defaultIsHoldoutAndThirdsForFmd(@TempDir Path folders, @TempDir Path fmd) throws IOException {
        DatasetTrees.folders(folders, 3, "a", "b");
        assertThat(Protocol.defaultFor(Layouts.open(folders)).text()).isEqualTo("holdout:0.2");
        DatasetTrees.fmd(fmd, 3, "a", "b");
        assertThat(Protocol.defaultFor(Layouts.open(fmd)).text()).isEqualTo("thirds:3");
    }
}
