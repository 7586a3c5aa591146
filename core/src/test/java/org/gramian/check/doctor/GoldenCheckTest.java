package org.gramian.check.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class GoldenCheckTest {
    private static final Path GOLDEN = Path.of("src", "test", "resources", "golden");

    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"F64", "F32"})
    void layersMatchReferenceValuesForwardAndBackward(DType type) throws IOException {
        GoldenCheck.Report report = new GoldenCheck(type, Device.CPU).compare(GOLDEN);
        assertThat(report.outcomes())
                .allSatisfy(outcome ->
                        assertThat(outcome.error()).as(outcome.subject()).isLessThanOrEqualTo(outcome.tolerance()));
        assertThat(report.outcomes()).isNotEmpty().allMatch(CheckResult::passed);
        assertThat(report.others()).isEmpty();
    }

    @Test
    void folderWithoutReferenceFilesIsAnError(@TempDir Path empty) {
        GoldenCheck check = new GoldenCheck(DType.F64, Device.CPU);
        assertRejected(IOException.class, () -> check.compare(empty), empty);
        assertRejected(IOException.class, () -> check.compare(empty.resolve("absent")), empty.resolve("absent"));
    }
}
