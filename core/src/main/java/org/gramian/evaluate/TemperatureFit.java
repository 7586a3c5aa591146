package org.gramian.evaluate;

import java.util.Comparator;
import java.util.List;
import org.gramian.evaluate.Temperature.Outcome;
import org.gramian.linear.SoftmaxTemperature;

/** Fits a temperature to predictions: {@link SoftmaxTemperature} with the truths as targets. */
final class TemperatureFit {
    private final List<ImagePrediction> predictions;
    private final SoftmaxTemperature softmax;

    TemperatureFit(List<ImagePrediction> heldBack) {
        if (heldBack.isEmpty()) {
            throw new IllegalArgumentException("expected validation images to fit a temperature on, found none");
        }
        // In the order of an evaluation, so that sums are rounded alike.
        this.predictions =
                heldBack.stream().sorted(Comparator.comparing(ImagePrediction::name)).toList();
        List<double[]> scores =
                predictions.stream().map(TemperatureFit::centred).toList();
        double[] truths = new double[predictions.size()];
        for (int i = 0; i < truths.length; i++) {
            truths[i] = scores.get(i)[predictions.get(i).truth()];
        }
        this.softmax = new SoftmaxTemperature(scores, truths);
    }

    /** Scores below their maximum, which changes no probability and lets no exponential overflow. */
    private static double[] centred(ImagePrediction prediction) {
        double[] centred = prediction.logits().toArray();
        double max = centred[prediction.predicted()];
        for (int k = 0; k < centred.length; k++) {
            centred[k] -= max;
        }
        return centred;
    }

    Temperature fit() {
        if (softmax.isUninformative()) {
            return new Temperature(1, Outcome.NO_INFORMATION);
        }
        if (softmax.isUnbounded()) {
            return new Temperature(1, Outcome.ALL_RIGHT);
        }
        double temperature = softmax.fit().orElse(1);
        // Where T is 1 up to rounding, the promise of no higher loss decides.
        boolean lower = Calibration.logLoss(predictions, temperature) <= Calibration.logLoss(predictions, 1);
        return new Temperature(lower ? temperature : 1, Outcome.FITTED);
    }
}
