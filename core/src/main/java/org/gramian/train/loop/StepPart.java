package org.gramian.train.loop;

import java.io.Serializable;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import org.gramian.model.Model;
import org.gramian.tensor.Scope;
import org.gramian.train.loop.BatchGradient.Learned;
import org.gramian.train.loop.Examples.Minibatch;
import org.gramian.train.recipe.Recipe.Precision;
import org.jspecify.annotations.Nullable;

/**
 * What some crops of a step in stage 1 contribute to it, wherever they are computed: their gradients, losses and how many were
 * right. Parts of one step can be added up; the sum over all of its crops is the gradient of their mean loss.
 *
 * @param gradients of the head's parameters by name, row by row, each times the part's share in the step; those without a gradient
 *     are left out
 * @param loss sum of the losses of the crops
 * @param right crops that were right
 * @param crops how many there are
 * @param wrong why the step cannot be taken; null where it can
 */
@SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
public record StepPart(
        SequencedMap<String, float[]> gradients,
        double loss,
        int right,
        int crops,
        @Nullable NonFiniteStep wrong) implements Serializable {
    /**
     * What all parts of a step share.
     *
     * @param crops of the step, those of other parts included
     * @param dropout of its descriptors
     */
    public record Step(int crops, Dropout dropout) {}

    /**
     * Computes what a batch contributes, by the very code of training on one machine.
     *
     * @param model whose head learns
     * @param batch its crops
     * @param targets of the loss
     * @param step the step that the batch is part of
     * @param places of the batch's examples in the training set
     */
    public static StepPart of(Model model, Minibatch batch, Targets targets, Step step, int[] places) {
        TrainableModel trainee = new TrainableModel(model, 1, 1, Precision.F32);
        try (Scope _ = Scope.open();
                GradientSum sum = new GradientSum()) {
            int crops = batch.labels().length;
            Learned learned = new BatchGradient(trainee)
                    .learn(
                            batch,
                            targets.rows(batch.labels(), model.device()),
                            (double) crops / step.crops(),
                            sum,
                            descriptors -> step.dropout().apply(descriptors, places));
            SequencedMap<String, float[]> gradients = new LinkedHashMap<>();
            model.headParameters()
                    .all()
                    .forEach(parameter -> Optional.ofNullable(sum.sums().get(parameter))
                            .ifPresent(gradient -> gradients.put(parameter.name(), gradient.toFloats())));
            return new StepPart(
                    gradients,
                    learned.loss() * crops,
                    learned.right(),
                    crops,
                    learned.wrong().orElse(null));
        }
    }

    /**
     * Adds parts up, in their order and in double precision: the same parts in the same order give the same bits, and how many
     * parts a step has hardly matters.
     *
     * @param parts of one step, at least one; the first that went wrong stands for all
     */
    public static StepPart sum(List<StepPart> parts) {
        Optional<StepPart> failed =
                parts.stream().filter(part -> part.wrong != null).findFirst();
        if (failed.isPresent()) {
            return failed.get();
        }
        SequencedMap<String, double[]> sums = new LinkedHashMap<>();
        double loss = 0;
        int right = 0;
        int crops = 0;
        for (StepPart part : parts) {
            part.gradients.forEach((name, gradient) -> add(sums, name, gradient));
            loss += part.loss;
            right += part.right;
            crops += part.crops;
        }
        SequencedMap<String, float[]> gradients = new LinkedHashMap<>();
        sums.forEach((name, sum) -> gradients.put(name, rounded(sum)));
        return new StepPart(gradients, loss, right, crops, null);
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
