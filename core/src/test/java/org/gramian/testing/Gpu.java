package org.gramian.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
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

    /** A copy there that belongs to no scope. */
    public static Tensor copy(Tensor host) {
        Tensor there = host.to(Device.cuda(0));
        Scope.detach(there);
        return there;
    }
}
