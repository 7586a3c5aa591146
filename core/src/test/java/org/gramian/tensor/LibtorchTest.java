package org.gramian.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import org.gramian.tensor.library.GpuMath;
import org.gramian.tensor.library.Libtorch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LibtorchTest {
    private final Libtorch libtorch = Libtorch.load();

    @Test
    void numberOfThreadsIsWhatWasSet() {
        int before = libtorch.threads();
        try {
            libtorch.setThreads(1);
            assertThat(libtorch.threads()).isEqualTo(1);
            libtorch.setThreads(2);
            assertThat(libtorch.threads()).isEqualTo(2);
        } finally {
            libtorch.setThreads(before);
        }
        assertRejected(() -> libtorch.setThreads(0), "1", "0");
    }

    @Test
    void trialsAreNotReproducible() {
        assertRejected(() -> new GpuMath(false, true, true));
        assertThat(GpuMath.EXACT.withTrials()).isEqualTo(GpuMath.EXACT);
        assertThat(GpuMath.DEFAULT.withTrials().trials()).isTrue();
    }

    @Test
    void switchesOfGpuDoNoHarmOnProcessor() {
        GpuMath before = libtorch.math();
        assertThat(libtorch.with(GpuMath.EXACT.withTf32(true), libtorch::math))
                .isEqualTo(new GpuMath(true, true, false));
        assertThat(libtorch.math()).isEqualTo(before);
        Device.CPU.synchronize();
        if (libtorch.cudaDevices() == 0) {
            assertThat(libtorch.cudaMemoryInUse()).isEmpty();
        }
    }

    @Test
    void devicesAreFoundByName() {
        assertThat(Device.parse("cpu")).isEqualTo(Device.CPU);
        assertThat(Device.parse(" CPU ")).isEqualTo(Device.CPU).hasToString("cpu");
        Device automatic = Device.parse("auto");
        assertThat(automatic).isEqualTo(libtorch.cudaDevices() > 0 ? Device.cuda(0) : Device.CPU);
        assertThat(Device.cuda(1)).hasToString("cuda:1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cpu:0", "cuda:1234"})
    void namesOfNoDeviceAreRefused(String name) {
        assertRejected(() -> Device.parse(name), "cpu", "cuda", "cuda:<number>", "auto", "'" + name + "'");
    }

    @Test
    void deviceThatIsNotThereIsRefusedWithWayOut() {
        assertRejected(() -> Device.parse("cuda:99"), "cuda:99", "--device cpu", "GRAMIAN_LIBTORCH");
    }
}
