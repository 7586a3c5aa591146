package org.gramian.cli.check;

import org.gramian.cli.common.Progress;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.Device;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.jspecify.annotations.Nullable;

/** Descriptors and gradients of many images, a batch at a time; results lie on the processor. */
record PoolRun(Pooling pooling, ParameterSet parameters, Device device, int batch) {
    private static final long SECOND = 1_000_000_000L;

    /** Told now and then how many images are done. */
    @FunctionalInterface
    public interface Progress {
        void images(long done, long all);
    }

    /** {@code descriptors}, and with an upstream gradient {@code grad.<name>} of features and parameters. */
    SequencedMap<String, Tensor> compute(Tensor features, @Nullable Tensor upstream, Progress progress) {
        requireFit(features, upstream);
        Map<String, List<Tensor>> parts = new LinkedHashMap<>();
        Map<String, Tensor> sums = new LinkedHashMap<>();
        long all = features.size(0);
        long spoken = System.nanoTime();
        for (long start = 0; start < all; start += batch) {
            long end = Math.min(all, start + batch);
            Tensor part = Views.slice(features, 0, start, end);
            computeBatch(part, upstream == null ? null : Views.slice(upstream, 0, start, end), parts, sums);
            if (System.nanoTime() - spoken > 2 * SECOND) {
                spoken = System.nanoTime();
                progress.images(end, all);
            }
        }
        SequencedMap<String, Tensor> results = new LinkedHashMap<>();
        parts.forEach((name, tensors) -> results.put(name, Views.concat(tensors, 0)));
        results.putAll(sums);
        return results;
    }

    private void computeBatch(
            Tensor features, @Nullable Tensor upstream, Map<String, List<Tensor>> parts, Map<String, Tensor> sums) {
        try (Scope scope = Scope.open();
                Tape tape = upstream == null ? Tape.inference() : Tape.recording()) {
            Var x = tape.variable(Tensors.to(Views.contiguous(features), device));
            Map<String, Var> variables = parameters.variables(tape);
            Var result = pooling.apply(x, Bindings.of(variables));
            add(parts, "descriptors", scope.keep(hostCopy(result.value())));
            if (upstream == null) {
                return;
            }
            try (Gradients gradients = tape.backward(result, Tensors.to(Views.contiguous(upstream), device))) {
                add(parts, "grad.features", scope.keep(hostCopy(gradients.of(x))));
                variables.forEach((name, variable) -> {
                    if (gradients.has(variable)) {
                        Tensor gradient = hostCopy(gradients.of(variable));
                        sums.merge("grad." + name, gradient, PoolRun::sum);
                    }
                });
            }
            sums.values().forEach(scope::keep);
        }
    }

    private static Tensor sum(Tensor former, Tensor gradient) {
        Tensor sum = Elementwise.add(former, gradient);
        former.close();
        return sum;
    }

    private static Tensor hostCopy(Tensor tensor) {
        return Tensors.copy(Tensors.to(tensor, Device.CPU));
    }

    private static void add(Map<String, List<Tensor>> parts, String name, Tensor part) {
        parts.computeIfAbsent(name, key -> new ArrayList<>()).add(part);
    }

    private void requireFit(Tensor features, @Nullable Tensor upstream) {
        Shape wanted = Shape.of(features.size(0), pooling.descriptorSize(features.size(1)));
        if (upstream != null && !upstream.shape().equals(wanted)) {
            throw new IllegalArgumentException(
                    "the upstream gradient must have the descriptors' shape " + wanted + ", found " + upstream.shape());
        }
    }
}
