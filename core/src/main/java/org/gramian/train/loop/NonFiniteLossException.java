package org.gramian.train.loop;

import java.util.Locale;

/** Thrown if the loss or a gradient is NaN or infinite. The message has the step, its learning rate and the layer. */
public final class NonFiniteLossException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    NonFiniteLossException(StageProgress progress, double learningRate, String what) {
        super(String.format(
                Locale.ROOT,
                "stage %d, epoch %d, step %d, learning rate %.3g: %s; lower the learning rate (--lr)",
                progress.stage(),
                progress.epoch() + 1,
                progress.step() + 1,
                learningRate,
                what));
    }
}
