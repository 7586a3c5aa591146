package org.gramian.benchmarks;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;

/** Product of two large square matrices, {@code 2n³} operations: the peak rate of a device. */
final class CeilingTask implements Task {
    static final String NAME = "ceiling";

    /** Number of timings, or that of the plan if smaller; the best one counts. */
    static final int TIMES = 5;

    private final Tensor a;
    private final Tensor b;

    CeilingTask(TaskSpec spec) {
        int size = size(spec.device());
        Precision precision = spec.precision();
        try (Scope scope = Scope.open()) {
            Tensor made = SyntheticValues.uniform(Shape.of(size, size), 1, 1, spec.device());
            a = scope.keep(made.to(precision.ofProducts()).copy());
            b = scope.keep(a.copy());
        }
    }

    /** Returns the size of the matrices, large enough to reach the peak rate. */
    static int size(Device device) {
        return device.kind() == Device.Kind.CUDA ? 8192 : 2048;
    }

    /** Returns the floating-point operations of one product. */
    static double operations(Device device) {
        return 2 * Math.pow(size(device), 3);
    }

    @Override
    public SequencedMap<String, Double> check() {
        return new LinkedHashMap<>(Map.of("|A|", SyntheticValues.norm(a)));
    }

    @Override
    public void run() {
        try (Scope _ = Scope.open()) {
            a.matmul(b);
        }
    }
}
