package org.gramian.benchmarks;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import org.gramian.tensor.Device;
import org.gramian.tensor.Products;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/** A product of two large square matrices: what a device can do at best, in {@code 2n³} operations. */
final class CeilingTask implements Task {
    static final String NAME = "ceiling";

    /** The best of so many is taken. */
    static final int TIMES = 5;

    private final Tensor a;
    private final Tensor b;

    CeilingTask(TaskSpec spec) {
        int size = size(spec.device());
        Precision precision = Precision.parse(spec.text("precision"));
        try (Scope scope = Scope.open()) {
            Tensor made = Pattern.uniform(Shape.of(size, size), 1, 1, spec.device());
            a = scope.keep(Tensors.copy(Tensors.to(made, precision.ofProducts())));
            b = scope.keep(Tensors.copy(a));
        }
    }

    /** Large enough that a larger one is not faster. */
    static int size(Device device) {
        return device.kind() == Device.Kind.CUDA ? 8192 : 2048;
    }

    /** Multiplications and additions of one product. */
    static double operations(Device device) {
        return 2 * Math.pow(size(device), 3);
    }

    @Override
    public SequencedMap<String, Double> check() {
        return new LinkedHashMap<>(Map.of("|A|", Norm.of(a)));
    }

    @Override
    public void run() {
        try (Scope _ = Scope.open()) {
            Products.matmul(a, b);
        }
    }
}
