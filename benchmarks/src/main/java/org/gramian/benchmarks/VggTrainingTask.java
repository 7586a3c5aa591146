package org.gramian.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.gramian.autodiff.Arithmetic;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Maps;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;

/** VGG-16 forward and backward: the gradients of all weights and biases of the mean of the output. */
final class VggTrainingTask implements Task {
    private final Vgg vgg;

    VggTrainingTask(TaskSpec spec) {
        this.vgg = Vgg.of(spec);
    }

    @Override
    public void run() {
        step(new LinkedHashMap<>());
    }

    @Override
    public SequencedMap<String, Double> check() {
        SequencedMap<String, Double> values = new LinkedHashMap<>();
        for (int layer = 0; layer < vgg.weights().size(); layer += 4) {
            values.put("|gradient of weight " + layer + "|", 0.0);
            values.put("|gradient of bias " + layer + "|", 0.0);
        }
        values.putFirst("mean", step(values));
        return values;
    }

    /** The loss; the gradients' norms are written down where the map holds the name already. */
    private double step(SequencedMap<String, Double> norms) {
        try (Tape tape = Tape.recording()) {
            List<Var> weights = vgg.weights().stream().map(tape::variable).toList();
            List<Var> biases = vgg.biases().stream().map(tape::variable).toList();
            Var mean = Arithmetic.mean(maps(tape, weights, biases));
            try (Gradients gradients = tape.backward(mean)) {
                for (int layer = 0; layer < weights.size(); layer++) {
                    Var weight = weights.get(layer);
                    Var bias = biases.get(layer);
                    norms.computeIfPresent(
                            "|gradient of weight " + layer + "|", (_, _) -> Norm.of(gradients.of(weight)));
                    norms.computeIfPresent("|gradient of bias " + layer + "|", (_, _) -> Norm.of(gradients.of(bias)));
                }
            }
            return mean.value().item();
        }
    }

    private Var maps(Tape tape, List<Var> weights, List<Var> biases) {
        Var x = tape.constant(vgg.pictures());
        List<Var> left = new ArrayList<>(weights);
        for (int multiple : Vgg.LAYERS) {
            if (multiple == 0) {
                x = Maps.maxPool(x, Vgg.POOL);
            } else {
                Var bias = biases.get(weights.size() - left.size());
                x = Maps.convolveRelu(x, left.removeFirst(), bias, Vgg.CONVOLUTION);
            }
        }
        return x;
    }
}
