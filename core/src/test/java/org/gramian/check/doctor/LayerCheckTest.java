package org.gramian.check.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import org.gramian.tensor.Device;
import org.junit.jupiter.api.Test;

class LayerCheckTest {
    @Test
    void gradientsAgreeWithCentralDifferences() {
        assertThat(LayerCheck.run(Device.CPU, Boolean.getBoolean("gramian.full") ? Integer.MAX_VALUE : 6))
                .hasSizeGreaterThan(40)
                .allSatisfy(outcome ->
                        assertThat(outcome.error()).as(outcome.subject()).isLessThanOrEqualTo(outcome.tolerance()));
    }
}
