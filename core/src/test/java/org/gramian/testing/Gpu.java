package org.gramian.testing;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.gramian.tensor.Device;
import org.gramian.tensor.library.Libtorch;

/** The GPU of tests that need one; without it they are skipped and say so. */
public final class Gpu {
    /** Set by {@code ./verify --gpu}: a test that finds no GPU fails. */
    private static final boolean REQUIRED = "required".equals(System.getenv("GRAMIAN_GPU"));

    private Gpu() {}

    public static Device required() {
        boolean found = Libtorch.load().cudaDevices() > 0;
        String missing = "no GPU: point GRAMIAN_LIBTORCH at a PyTorch with CUDA on a machine that has one";
        if (REQUIRED) {
            assertTrue(found, missing);
        }
        assumeTrue(found, missing);
        return Device.cuda(0);
    }
}
