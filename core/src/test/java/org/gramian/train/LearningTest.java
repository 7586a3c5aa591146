package org.gramian.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Classification;
import org.gramian.model.Engine;
import org.gramian.model.Head;
import org.gramian.pooling.Pooling;
import org.gramian.spd.SingleThreaded;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Heads trained on synthetic textures: channels have mean 0 and variance 1, and the classes differ only in which go together. */
@ExtendWith(SingleThreaded.class)
class LearningTest {
    private static final int STEPS = Boolean.getBoolean("gramian.full") ? 300 : 150;
    private static final int CHANNELS = 4;
    private static final int CLASSES = 2;
    private static final int POSITIONS = 36;

    @ParameterizedTest
    @CsvSource({
        "conv:8/rbf/spd:6/relu/triu/root/l2, 0.9, 1",
        "rbf/triu/root/l2, 0.9, 1",
        "bilinear/triu/root/l2, 0.9, 1",
        "covariance:jitter=0.01/log/triu/l2, 0.9, 1",
        "average/l2, 0.3, 0.7"
    })
    void secondOrderPoolingSeparatesTexturesAndAverageDoesNot(String pooling, double least, double most) {
        Head head = new Head(Pooling.parse(pooling), CLASSES, false);
        try (Scope _ = Scope.open();
                ParameterSet parameters = ParameterSet.initialize(
                        head.parameters(CHANNELS), new SplittableRandom(3), DType.F32, Device.CPU);
                Optimizer sgd = new Optimizer(Sgd.defaults(1))) {
            Tensor training = textures(64, 1);
            Tensor targets = Classification.oneHot(labels(64), CLASSES, DType.F32);
            for (int step = 0; step < STEPS; step++) {
                try (Tape tape = Tape.recording()) {
                    Map<String, Var> variables = parameters.variables(tape);
                    Var loss = Classification.crossEntropy(scores(head, tape.constant(training), variables), targets);
                    try (Gradients gradients = tape.backward(loss)) {
                        sgd.step(parameters, variables, gradients);
                    }
                }
            }
            try (Tape tape = Tape.inference()) {
                Var found = scores(head, tape.constant(textures(100, 2)), parameters.variables(tape));
                assertThat(accuracy(Engine.toRows(found.value()))).isBetween(least, most);
            }
        }
    }

    private static Var scores(Head head, Var features, Map<String, Var> variables) {
        Bindings bindings = Bindings.of(variables);
        return head.classify(head.describe(features, bindings), bindings, Head.Mode.TRAINING);
    }

    private static long[] labels(int images) {
        return LongStream.range(0, images).map(i -> i % CLASSES).toArray();
    }

    private static double accuracy(float[][] scores) {
        int correct = 0;
        for (int i = 0; i < scores.length; i++) {
            correct += (scores[i][0] >= scores[i][1] ? 0 : 1) == i % CLASSES ? 1 : 0;
        }
        return (double) correct / scores.length;
    }

    private static Tensor textures(int images, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        double[] values = new double[images * CHANNELS * POSITIONS];
        for (int n = 0; n < images; n++) {
            for (int p = 0; p < POSITIONS; p++) {
                double shared = random.nextGaussian();
                for (int c = 0; c < CHANNELS; c++) {
                    double own = random.nextGaussian();
                    boolean together = n % CLASSES == 0 ? c < 2 : c >= 2;
                    values[(n * CHANNELS + c) * POSITIONS + p] = together ? 0.9 * shared + 0.436 * own : own;
                }
            }
        }
        return Tensors.of(values, Shape.of(images, CHANNELS, 6, 6), DType.F32);
    }
}
