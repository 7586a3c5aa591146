package org.gramian.basis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
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
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a.jpg", "0.5", "-0.5", "+3", "-1.5E-7", "-Infinity", "NaN", "it's", "'quoted'", "a=b"})
    void othersStay(String field) {
        assertThat(CsvText.safe(field)).isEqualTo(field);
    }

    @Test
    void escapeSequencesAreReplaced() {
        assertThat(CsvText.safe("a\u001b]0;title\u0007b\u009b31mc\nd"))
                .isEqualTo("a\\u001b]0;title\\u0007b\\u009b31mc\nd");
    }

    @Test
    void differentTextsStayDifferentAndSafe() {
        Set<String> texts = new HashSet<>(Set.of(""));
        for (int length = 1; length <= 3; length++) {
            for (String text : List.copyOf(texts)) {
                for (String sign :
                        List.of("=", "+", "-", "@", "'", "\t", "\r", "a", "1", ".", "\u001b", "\\", "u001b")) {
                    texts.add(text + sign);
                }
            }
        }
        List<String> safe = CsvText.safe(texts);
        assertThat(safe).doesNotHaveDuplicates().noneMatch(text -> text.matches("(?s)[=+@\\t\\r-](?![0-9.]).*"));
    }
}
