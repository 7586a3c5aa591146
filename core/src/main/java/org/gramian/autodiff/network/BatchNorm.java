package org.gramian.autodiff.network;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;

/**
 * Batch normalization, {@code y = γ·(x − μ)/√(v + ε) + β} per channel (dimension 1).
 *
 * <p>In training, μ and v are mean and biased variance over all other dimensions, and gradients flow through them:
 * {@code dx = γ/√(v+ε)·(g − mean(g) − x̂·mean(g∘x̂))}. In inference they are the running statistics, which are
 * constants. A single value per channel has no variance: in training it is normalized by the running statistics, which
 * stay unchanged. Shapes: x {@code [n, c, ...]}, all others {@code [c]}. Reference: Ioffe and Szegedy, "Batch
 * Normalization", ICML 2015.
 *
 * @param epsilon ε, added to the variance
 * @param momentum weight of the new batch in the running statistics
 */
public record BatchNorm(double epsilon, double momentum) {
    /** PyTorch's defaults. */
    public static final BatchNorm STANDARD = new BatchNorm(1e-5, 0.1);

    /** Running mean and variance {@code [c]}, updated in place by training. */
    public record Statistics(Tensor mean, Tensor variance) {}

    /** Normalizes by the statistics of the batch and updates the running statistics; computed in the type of γ. */
    public Var train(Var x, Var gamma, Var beta, Statistics running) {
        requireChannels(x, gamma, beta);
        DType type = x.value().type();
        if (type != gamma.value().type()) {
            return train(x.to(gamma.value().type()), gamma, beta, running).to(type);
        }
        int[] others = others(x);
        Shape perChannel = perChannel(x);
        double count = x.shape().elements() / (double) x.shape().at(1);
        if (count == 1) {
            return predict(x, gamma, beta, running);
        }
        return x.tape().apply(List.of(x, gamma, beta), () -> {
            Tensor mean = x.value().sum(others).mul(1 / count);
            Tensor centred = x.value().sub(mean);
            Tensor variance = centred.mul(centred).sum(others).mul(1 / count);
            move(running.mean(), mean);
            move(running.variance(), variance.mul(count / (count - 1)));
            Tensor inverse = variance.add(epsilon).pow(-0.5);
            Tensor normal = centred.mul(inverse);
            return Result.of(
                    affine(normal, gamma, beta, perChannel),
                    (g, wanted) -> {
                        Tensor sumG = g.sum(others);
                        Tensor sumGn = g.mul(normal).sum(others);
                        Tensor share = sumG.add(normal.mul(sumGn));
                        Tensor dx = g.addScaled(share, -1 / count)
                                .mul(gamma.value().reshape(perChannel.sizes()).mul(inverse));
                        return list(dx, flat(sumGn, gamma), flat(sumG, beta));
                    },
                    normal,
                    inverse);
        });
    }

    /** Normalizes by fixed statistics; computed in the type of γ. */
    public Var predict(Var x, Var gamma, Var beta, Statistics running) {
        requireChannels(x, gamma, beta);
        DType type = x.value().type();
        if (type != gamma.value().type()) {
            return predict(x.to(gamma.value().type()), gamma, beta, running).to(type);
        }
        int[] others = others(x);
        Shape perChannel = perChannel(x);
        return x.tape().apply(List.of(x, gamma, beta), () -> {
            Tensor inverse = running.variance().add(epsilon).pow(-0.5).reshape(perChannel.sizes());
            Tensor centred = x.value().sub(running.mean().reshape(perChannel.sizes()));
            Tensor normal = centred.mul(inverse);
            return Result.of(
                    affine(normal, gamma, beta, perChannel),
                    (g, wanted) -> {
                        Tensor scale = gamma.value().reshape(perChannel.sizes()).mul(inverse);
                        Tensor sumGn = g.mul(normal).sum(others);
                        return list(g.mul(scale), flat(sumGn, gamma), flat(g.sum(others), beta));
                    },
                    normal,
                    inverse);
        });
    }

    /** Weights {@code [k, c, s, t]} and bias {@code [k]} of a convolution. */
    public record Folded(Var weight, Var bias) {}

    /**
     * Folds this norm with fixed statistics into a preceding convolution without bias, for filters that are applied many
     * times: weights {@code W·s} and biases {@code β − μ·s} with {@code s = γ/√(v + ε)} per output channel.
     *
     * @param weight W {@code [k, c, s, t]}; all others {@code [k]}
     */
    public Folded fold(Var weight, Var gamma, Var beta, Statistics running) {
        Shape perFilter = Shape.of(weight.shape().at(0));
        if (!gamma.shape().equals(perFilter) || !beta.shape().equals(perFilter)) {
            throw new IllegalArgumentException("batch norm: expected one scale and one offset per filter of "
                    + weight.value() + ", found " + gamma.value() + " and " + beta.value());
        }
        Tape tape = weight.tape();
        Var scale = tape.apply(List.of(gamma), () -> {
            Tensor inverse = running.variance().add(epsilon).pow(-0.5);
            return Result.of(gamma.value().mul(inverse), (g, wanted) -> list(g.mul(inverse)), inverse);
        });
        Var bias = beta.sub(scale.mul(tape.constant(running.mean())));
        return new Folded(weight.mul(scale.reshape(perFilter.at(0), 1, 1, 1)), bias);
    }

    private void move(Tensor running, Tensor batch) {
        Tensor flat = batch.reshape(running.shape().sizes());
        running.copyFrom(running.mul(1 - momentum).addScaled(flat, momentum));
    }

    private static Tensor affine(Tensor normal, Var gamma, Var beta, Shape perChannel) {
        Tensor scaled = normal.mul(gamma.value().reshape(perChannel.sizes()));
        return scaled.add(beta.value().reshape(perChannel.sizes()));
    }

    private static Tensor flat(Tensor sums, Var like) {
        return sums.reshape(like.shape().sizes());
    }

    private static int[] others(Var x) {
        return IntStream.range(0, x.shape().rank()).filter(i -> i != 1).toArray();
    }

    private static Shape perChannel(Var x) {
        long[] sizes = new long[x.shape().rank()];
        Arrays.fill(sizes, 1);
        return Shape.of(sizes).with(1, x.shape().at(1));
    }

    private static void requireChannels(Var x, Var gamma, Var beta) {
        Shape wanted = Shape.of(x.shape().rank() < 2 ? 0 : x.shape().at(1));
        if (!gamma.shape().equals(wanted) || !beta.shape().equals(wanted)) {
            throw new IllegalArgumentException("batch norm: expected one scale and one offset per channel of "
                    + x.value() + ", found " + gamma.value() + " and " + beta.value());
        }
    }
}
