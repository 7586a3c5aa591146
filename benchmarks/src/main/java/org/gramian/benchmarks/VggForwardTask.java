package org.gramian.benchmarks;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;

/** VGG-16 forward, each activation freed as soon as the next one is there. */
final class VggForwardTask implements Task {
    private final Vgg vgg;

    VggForwardTask(TaskSpec spec) {
        this.vgg = Vgg.of(spec);
    }

    /** The last activations; they belong to the enclosing scope. */
    private Tensor forward() {
        Tensor x = vgg.pictures();
        int next = 0;
        for (int multiple : Vgg.LAYERS) {
            Tensor before = x;
            try (Scope scope = Scope.open()) {
                x = scope.keep(multiple == 0 ? Vgg.POOL.max(before).values() : convolved(before, next));
            }
            next += multiple == 0 ? 0 : 1;
            if (before != vgg.pictures()) {
                before.close();
            }
        }
        return x;
    }

    private Tensor convolved(Tensor x, int layer) {
        Tensor maps =
                Vgg.CONVOLUTION.apply(x, vgg.weights().get(layer), vgg.biases().get(layer));
        return Elementwise.reluInPlace(maps);
    }

    @Override
    public SequencedMap<String, Double> check() {
        try (Scope _ = Scope.open()) {
            Tensor maps = forward();
            return new LinkedHashMap<>(Map.of("mean", Reductions.mean(maps).item(), "|output|", Norm.of(maps)));
        }
    }

    @Override
    public void run() {
        try (Scope _ = Scope.open()) {
            forward();
        }
    }
}
