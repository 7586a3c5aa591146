package org.gramian.basis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ByteSizeTest {
    @ParameterizedTest
    @CsvSource({"0,0", "17,17", "2GB,2000000000", "1.5 kB,1500", "500m,500000000", "3tb,3000000000000", "12 b,12"})
    void sizesAreParsed(String text, long bytes) {
        assertThat(ByteSize.parse(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "GB", "-1", "2 GiB", "1,5 GB", "many"})
    void invalidSizesAreRejected(String text) {
        assertRejected(() -> ByteSize.parse(text), "expected a size such as 500MB or 2GB, found '" + text + "'");
    }

    @Test
    void sizesAreFormattedInPowersOfTen() {
        assertThat(ByteSize.text(999)).isEqualTo("999 bytes");
        assertThat(ByteSize.text(1_500)).isEqualTo("1.5 kB");
        assertThat(ByteSize.text(999_949)).isEqualTo("999.9 kB");
        assertThat(ByteSize.text(999_999)).isEqualTo("1.0 MB");
        assertThat(ByteSize.text(2_000_000_000_000L)).isEqualTo("2.0 TB");
    }
}
