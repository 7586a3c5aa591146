package org.gramian.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.gramian.tensor.Device;
import org.gramian.tensor.library.Libtorch;

/** The GPU of tests that need one; without it they are skipped and say so. */
public final class Gpu {
    private Gpu() {}

    public static Device required() {
        assumeTrue(
                Libtorch.load().cudaDevices() > 0,
                "no GPU: point GRAMIAN_LIBTORCH at a PyTorch with CUDA on a machine that has one");
        return Device.cuda(0);
    }
}
