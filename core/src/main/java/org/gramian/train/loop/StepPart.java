package org.gramian.train.loop;

import java.io.Serializable;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.Tape;
import org.gramian.model.Model;
import org.gramian.tensor.Scope;
import org.gramian.train.loop.Examples.Minibatch;
import org.jspecify.annotations.Nullable;

/**
 * Part of a distributed step of stage 1: gradients and losses of some of its crops. The sum of all parts is the gradient of the
 * mean loss of the step.
 *
 * @param gradients of the head's parameters by name, row by row, each times the part's share in the step; parameters without a
 *     gradient are left out
 * @param loss sum over the crops
 * @param correct crops that were classified correctly
 * @param crops number of crops
 * @param nonFinite where the loss or a gradient is NaN or infinite; null if all are finite
 */
@SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
public record StepPart(
        SequencedMap<String, float[]> gradients,
        double loss,
        int correct,
        int crops,
        @Nullable String nonFinite) implements Serializable {
    /**
     * The step that parts belong to.
     *
     * @param crops of all its parts
     * @param dropout of its descriptors
     */
    public record Step(int crops, Dropout dropout) {}

    /**
     * Computes the part of a batch.
     *
     * @param model whose head is trained
     * @param batch crops of the part
     * @param targets of the loss
     * @param step that the batch is part of
     * @param indices of the crops in the training set
     */
    public static StepPart of(Model model, Minibatch batch, Targets targets, Step step, int[] indices) {
        TrainableModel trained = TrainableModel.head(model, false);
        int crops = batch.labels().length;
        try (Scope _ = Scope.open();
                GradientSum sum = new GradientSum();
                Tape tape = Tape.recording()) {
            Trainable.Loss loss = trained.loss(
                    tape,
                    batch.input(),
                    targets.rows(batch.labels(), model.device()),
                    step.dropout().of(indices));
            double mean = loss.mean();
            if (!Double.isFinite(mean)) {
                return failed(crops, NonFiniteLossException.loss(trained.nonFiniteLayer(batch.input())));
            }
            int correct = loss.correct(batch.labels());
            try (Gradients gradients = loss.backward((double) crops / step.crops())) {
                sum.add(loss, gradients);
            }
            Optional<Parameter> nonFinite = sum.nonFinite();
            if (nonFinite.isPresent()) {
                return failed(crops, NonFiniteLossException.gradient(nonFinite.get()));
            }
            SequencedMap<String, float[]> gradients = new LinkedHashMap<>();
            sum.sums().forEach((parameter, gradient) -> gradients.put(parameter.name(), gradient.toFloats()));
            return new StepPart(gradients, mean * crops, correct, crops, null);
        }
    }

    private static StepPart failed(int crops, String nonFinite) {
        return new StepPart(new LinkedHashMap<>(), Double.NaN, 0, crops, nonFinite);
    }

    /**
     * Adds parts in their order and in double precision: the same parts in the same order give the same bits, and their number
     * hardly matters.
     *
     * @param parts of one step, at least one
     * @return the first part with a non-finite value, if there is one
     */
    public static StepPart sum(List<StepPart> parts) {
        Optional<StepPart> failed =
                parts.stream().filter(part -> part.nonFinite != null).findFirst();
        if (failed.isPresent()) {
            return failed.get();
        }
        SequencedMap<String, double[]> sums = new LinkedHashMap<>();
        double loss = 0;
        int correct = 0;
        int crops = 0;
        for (StepPart part : parts) {
            part.gradients.forEach((name, gradient) -> add(sums, name, gradient));
            loss += part.loss;
            correct += part.correct;
            crops += part.crops;
        }
        SequencedMap<String, float[]> gradients = new LinkedHashMap<>();
        sums.forEach((name, sum) -> gradients.put(name, rounded(sum)));
        return new StepPart(gradients, loss, correct, crops, null);
    }

    private static void add(Map<String, double[]> sums, String name, float[] gradient) {
        double[] sum = Objects.requireNonNull(sums.computeIfAbsent(name, _ -> new double[gradient.length]));
        Arrays.setAll(sum, i -> sum[i] + gradient[i]);
    }

    private static float[] rounded(double[] wide) {
        float[] narrow = new float[wide.length];
        for (int i = 0; i < wide.length; i++) {
            narrow[i] = (float) wide[i];
        }
        return narrow;
    }
}
