package org.gramian.train.loop;

import java.util.Locale;
import java.util.Optional;
import org.gramian.autodiff.Parameter;

/** Thrown if the loss or a gradient is NaN or infinite. The message has the step, its learning rate and the layer. */
public final class NonFiniteLossException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    NonFiniteLossException(String what, StageProgress progress, double learningRate) {
        super(String.format(
                Locale.ROOT,
                "stage %d, epoch %d, step %d, learning rate %.3g: %s; lower the learning rate (--lr)",
                progress.stage(),
                progress.epoch() + 1,
                progress.step() + 1,
                learningRate,
                what));
    }

    /** @param layer the first one with a non-finite value; empty if the values of all layers are finite */
    static NonFiniteLossException ofLoss(StageProgress progress, double learningRate, Optional<String> layer) {
        return new NonFiniteLossException(loss(layer), progress, learningRate);
    }

    static NonFiniteLossException ofGradient(StageProgress progress, double learningRate, Parameter parameter) {
        return new NonFiniteLossException(gradient(parameter), progress, learningRate);
    }

    static String loss(Optional<String> layer) {
        return "the loss is NaN or infinite, "
                + layer.map(name -> "first in " + name).orElse("the values of all layers are finite");
    }

    static String gradient(Parameter parameter) {
        return "the gradient of " + parameter.name() + " is NaN or infinite";
    }
}
