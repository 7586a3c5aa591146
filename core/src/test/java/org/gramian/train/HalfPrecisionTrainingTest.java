package org.gramian.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Classification;
import org.gramian.model.Head;
import org.gramian.pooling.Pooling;
import org.gramian.spd.layer.Retraction;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.library.Libtorch;
import org.gramian.testing.Gpu;
import org.junit.jupiter.api.Test;

/** Training with float16 products of the descriptor on a GPU against training with TF32 products. */
class HalfPrecisionTrainingTest {
    private static final int IMAGES = 24;
    private static final int CHANNELS = 64;
    private static final int CLASSES = 4;
    private static final int STEPS = 200;
    private static final Head HEAD = new Head(Pooling.parse("rbf/spd:16/relu/triu/root/l2"), CLASSES, false);
    private static final Sgd OPTIONS =
            new Sgd(1, 0, 0, new StiefelOptions(0.05, Stiefel.Metric.CANONICAL, Retraction.QR));

    @Test
    void lossesAreThoseOfTf32() {
        Gpu.required();
        Libtorch libtorch = Libtorch.load();
        boolean _ = libtorch.with(libtorch.math().withTf32(true), () -> {
            List<Double> half = losses(true);
            List<Double> tf32 = losses(false);
            double difference = 0;
            for (int i = 0; i < STEPS; i++) {
                difference += Math.abs(half.get(i) / tf32.get(i) - 1) / STEPS;
            }
            assertThat(difference).as("mean relative difference of losses").isLessThan(0.03);
            assertThat(half.getLast()).as("loss after training").isLessThan(0.2 * half.getFirst());
            return true;
        });
    }

    /** @param fused whether the descriptor is one node, or one node for each stage, whose products are TF32 */
    private static List<Double> losses(boolean fused) {
        List<Double> losses = new ArrayList<>();
        try (Scope _ = Scope.open();
                ParameterSet parameters = ParameterSet.initialize(
                        HEAD.parameters(CHANNELS), new SplittableRandom(2), DType.F32, Gpu.required());
                Optimizer sgd = new Optimizer(OPTIONS)) {
            Tensor features = features().to(Gpu.required());
            long[] labels = LongStream.range(0, IMAGES).map(i -> i % CLASSES).toArray();
            Tensor targets = Classification.oneHot(labels, CLASSES, DType.F32).to(Gpu.required());
            for (int i = 0; i < STEPS; i++) {
                try (Tape tape = Tape.recording()) {
                    SequencedMap<String, Var> variables = parameters.variables(tape);
                    Bindings bindings = Bindings.of(variables);
                    Var descriptors = fused
                            ? HEAD.describe(tape.constant(features), bindings)
                            : HEAD.pooling().trace(tape.constant(features), bindings.under("pooling"), (_, _) -> {});
                    Var loss = Classification.crossEntropy(
                            HEAD.classify(descriptors, bindings, Head.Mode.TRAINING), targets);
                    losses.add(loss.value().item());
                    try (Gradients gradients = tape.backward(loss)) {
                        sgd.step(parameters, variables, gradients);
                    }
                }
            }
        }
        return losses;
    }

    /** Features of classes that differ in the strength of their channels. */
    private static Tensor features() {
        SplittableRandom random = new SplittableRandom(1);
        Tensor ofClasses = Tensors.uniform(random, 0, 1, Shape.of(1, CLASSES, CHANNELS, 1), DType.F32);
        Tensor ofImages =
                Tensors.uniform(random, 0.5, 1.5, Shape.of(IMAGES / CLASSES, CLASSES, CHANNELS, 25), DType.F32);
        Tensor noise = Tensors.uniform(random, 0, 0.3, ofImages.shape(), DType.F32);
        return ofImages.mul(ofClasses).add(noise).reshape(IMAGES, CHANNELS, 5, 5);
    }
}
