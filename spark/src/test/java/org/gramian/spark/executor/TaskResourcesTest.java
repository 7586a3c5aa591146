package org.gramian.spark.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Map;
import org.apache.spark.resource.ResourceInformation;
import org.gramian.tensor.Device;
import org.gramian.tensor.library.Libtorch;
import org.junit.jupiter.api.Test;

class TaskResourcesTest {
    private static final Map<String, ResourceInformation> THIRD =
            Map.of("gpu", new ResourceInformation("gpu", new String[] {"3", "5"}));

    @Test
    void taskWithoutAssignedGpuUsesCpu() {
        assertThat(TaskResources.device(Map.of(), "auto")).isEqualTo(Device.CPU);
        assertThat(TaskResources.device(THIRD, "cpu")).isEqualTo(Device.CPU);
    }

    @Test
    void firstAssignedGpuIsUsedOrReportedMissing() {
        assumeTrue(Libtorch.load().cudaDevices() < 4, "skipped: this machine has the GPU that should be absent");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TaskResources.device(THIRD, "auto"))
                .withMessageContaining("'cuda:3'");
    }

    @Test
    void operatorsUseTheCoresOfTheTask() {
        int before = Libtorch.load().threads();
        try {
            new TaskResources(1, Device.CPU).apply();
            assertThat(Libtorch.load().threads()).isEqualTo(1);
        } finally {
            Libtorch.load().setThreads(before);
        }
    }
}
