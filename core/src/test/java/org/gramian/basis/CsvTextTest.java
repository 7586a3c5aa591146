package org.gramian.basis;

import static org.assertj.core.api.Assertions.assertThat;

import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class CsvTextTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "=HYPERLINK(\"http://x\")",
                "+1+cmd",
                "-2+3",
                "@SUM(A1)",
                "-dash.jpg",
                "\t=1",
                "\r=1",
                "'=1",
                "--1"
            })
    void formulasBecomeText(String field) {
        assertThat(CsvText.safe(field)).isEqualTo("'" + field);
        assertThat(CsvText.restored(CsvText.safe(field))).isEqualTo(field);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a.jpg", "0.5", "-0.5", "+3", "-1.5E-7", "-Infinity", "NaN", "it's", "'quoted'", "a=b"})
    void othersStay(String field) {
        assertThat(CsvText.safe(field)).isEqualTo(field);
        assertThat(CsvText.restored(field)).isEqualTo(field);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\\u001b", "\\u005cu001b", "\u001b[31m", "\\\\u0000", "C:\\up\\u00"})
    void escapesAreRestored(String field) {
        assertThat(CsvText.restored(CsvText.safe(field))).isEqualTo(field);
    }

    @Test
    void escapeSequencesAreReplaced() {
        assertThat(CsvText.safe("a\u001b]0;title\u0007b\u009b31mc\nd"))
                .isEqualTo("a\\u001b]0;title\\u0007b\\u009b31mc\nd");
    }

    @RandomTest(times = 200)
    void everyTextIsRestored(Seed seed) {
        String signs = "=+-@'\t\ra1.\u001b\u0000\\u";
        StringBuilder text = new StringBuilder();
        for (int i = seed.random().nextInt(5); i > 0; i--) {
            text.append(signs.charAt(seed.random().nextInt(signs.length())));
        }
        assertThat(CsvText.restored(CsvText.safe(text.toString()))).isEqualTo(text.toString());
        assertThat(CsvText.safe(text.toString())).doesNotMatch("(?s)[=+@\\t\\r-](?![0-9.]).*");
    }
}
