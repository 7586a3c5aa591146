package org.gramian.benchmarks;

import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Function;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.spd.Rbf;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/** Gaussian kernel matrix of one image by matrix products, as {@link Rbf} computes it. */
final class KernelMatrixTask implements Task {
    private static final Rbf KERNEL = new Rbf(new Sigma.Mean(), 0);

    private final Tensor maps;

    KernelMatrixTask(TaskSpec spec) {
        this.maps = SyntheticValues.uniform(shape(spec), 1, 1, spec.device());
    }

    /** Returns the shape of the feature maps, {@code [1, C, N]}. */
    static Shape shape(TaskSpec spec) {
        return Shape.of(1, spec.number("channels"), (long) spec.number("side") * spec.number("side"));
    }

    @Override
    public SequencedMap<String, Double> check() {
        return kernel(k -> KernelLoopTask.summary(k.toFloats()));
    }

    @Override
    public void run() {
        kernel(_ -> null);
    }

    private <R extends @Nullable Object> R kernel(Function<Tensor, R> reading) {
        try (Tape tape = Tape.inference()) {
            return reading.apply(
                    KERNEL.apply(tape.constant(maps), Bindings.of(Map.of())).value());
        }
    }
}
