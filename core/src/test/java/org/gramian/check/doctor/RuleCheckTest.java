package org.gramian.check.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.gramian.tensor.Device;
import org.gramian.testing.Gpu;
import org.junit.jupiter.api.Test;

class RuleCheckTest {
    @Test
    void fusedLayersOfTheCpuEqualPlainOnes() {
        requireEqual(RuleCheck.run(Device.CPU));
    }

    @Test
    void fusedLayersOfAGpuEqualPlainOnes() {
        requireEqual(RuleCheck.run(Gpu.required()));
    }

    private static void requireEqual(List<CheckResult> results) {
        assertThat(results).hasSizeGreaterThan(5).allMatch(CheckResult::passed);
        assertThat(results)
                .anyMatch(result -> result.error() > 0); // else the plain layers were compared with themselves
    }
}
