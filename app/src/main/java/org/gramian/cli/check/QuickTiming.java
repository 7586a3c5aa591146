package org.gramian.cli.check;

import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Libtorch;
import org.gramian.tensor.Products;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.Optimizer;
import org.gramian.train.SgdOptions;

/**
 * A first idea of a machine's speed, in medians of a few runs.
 *
 * @param productSeconds one square matrix product in float32
 * @param stepSeconds one training step of a head
 */
record QuickTiming(double productSeconds, double stepSeconds) {
    static final int MATRIX = 1024;

    private static final Pooling POOLING = Pooling.parse("conv:256/rbf/spd:128/relu/triu/root/l2");
    private static final Shape FEATURES = Shape.of(8, 256, 14, 14);
    static final String STEP = "training step of " + POOLING + " on features " + FEATURES;

    private static final int RUNS = 5;

    double productGigaflops() {
        return 2e-9 * Math.pow(MATRIX, 3) / productSeconds;
    }

    static QuickTiming measure(Device device) {
        return new QuickTiming(product(device), step(device));
    }

    private static double product(Device device) {
        SplittableRandom random = new SplittableRandom(1);
        try (Scope _ = Scope.open()) {
            Tensor a = Tensors.to(Tensors.gaussian(random, Shape.of(MATRIX, MATRIX), DType.F32), device);
            return median(device, () -> {
                try (Scope _ = Scope.open()) {
                    Products.matmul(a, a);
                }
            });
        }
    }

    private static double step(Device device) {
        SplittableRandom random = new SplittableRandom(2);
        try (Scope _ = Scope.open();
                ParameterSet parameters = POOLING.initialize(FEATURES.at(1), random, DType.F32, device);
                Optimizer sgd = new Optimizer(SgdOptions.defaults(0.1))) {
            Tensor x = Tensors.to(Tensors.gaussian(random, FEATURES, DType.F32), device);
            Tensor g = Tensors.to(
                    Tensors.gaussian(
                            random, Shape.of(FEATURES.at(0), POOLING.descriptorSize(FEATURES.at(1))), DType.F32),
                    device);
            return median(device, () -> {
                try (Tape tape = Tape.recording()) {
                    Map<String, Var> variables = parameters.variables(tape);
                    Var descriptors = POOLING.apply(tape.constant(x), Bindings.of(variables));
                    try (Gradients gradients = tape.backward(descriptors, g)) {
                        sgd.step(parameters, variables, gradients);
                    }
                }
            });
        }
    }

    private static double median(Device device, Runnable work) {
        double[] seconds = new double[RUNS];
        for (int i = -2; i < RUNS; i++) {
            long start = System.nanoTime();
            work.run();
            Libtorch.load().synchronize(device);
            if (i >= 0) {
                seconds[i] = (System.nanoTime() - start) * 1e-9;
            }
        }
        Arrays.sort(seconds);
        return seconds[RUNS / 2];
    }
}
