package org.gramian.pooling;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Random encoding of aggregated deep activation maps (RADAM): decoder weights of randomized autoencoders, which one
 * least-squares solution per image gives (Scabini, Zielinski, Ribas, Gonçalves, De Baets, Bruno, "RADAM: Texture
 * Recognition through Randomized Aggregated Encoding of Deep Activation Maps", Pattern Recognition 143, 2023).
 *
 * <p>X {@code [n, C, h·w]} is each map divided by its length, plus the sinusoidal encoding of its position. An
 * autoencoder k has one hidden unit with fixed random weights, {@code g_k = sigmoid(w_kᵀX)}; its decoder, the
 * least-squares solution of {@code β g_k ≈ X}, is {@code X g_kᵀ / (g_k g_kᵀ)}. The descriptor sums the decoders, {@code
 * v = Σ_k X g_kᵀ / (g_k g_kᵀ)}, {@code [n, C]}.
 *
 * <p>As published, {@code w_k} is the k-th part of length C of the sequence {@code 1, 75z + 74 mod 65537, …}, centred
 * and divided by its length: the same in every program, so it is no parameter, and nothing is trained. Gradients reach
 * the maps. Maps of several layers, {@code --layer a+b}, are resized to those of the first and concatenated before; the
 * authors resize to the layer in the middle after dividing by the lengths.
 *
 * @param encoders number of autoencoders, 4 in the paper
 * @since 0.1
 */
public record Radam(int encoders) implements Aggregation {
    private static final int DEFAULT_ENCODERS = 4;

    static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
            "radam",
            "radam[:encoders=4]",
            "decoders of randomized autoencoders, closed form, untrained",
            a -> new Radam(a.count("encoders", DEFAULT_ENCODERS)));

    @Override
    public String text() {
        return "radam:" + encoders;
    }

    @Override
    public boolean isSpatial() {
        return true;
    }

    @Override
    public long outputs(long channels) {
        return channels;
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Shape shape = maps.shape();
        long images = shape.at(0);
        int channels = Math.toIntExact(shape.at(1));
        int height = Math.toIntExact(shape.at(2));
        int width = Math.toIntExact(shape.at(3));
        long positions = (long) height * width;
        Var rows = maps.reshape(images * channels, positions);
        Var unit = new Normalization.L2().apply(rows, Bindings.of(Map.of())).reshape(images, channels, positions);
        Var x = unit.add(constant(maps, Shape.of(channels, positions), () -> encoding(channels, height, width)));
        Var weights = constant(maps, Shape.of(encoders, channels), () -> weights(encoders, channels));
        Var hidden = sigmoid(weights.matmul(x)); // [n, k, N]
        Var squares = hidden.mul(hidden).sum(2);
        Var shares = hidden.div(squares).sum(1); // of the positions, [n, 1, N]
        return x.matmul(shares.transpose(1, 2)).reshape(images, channels);
    }

    private static Var constant(Var like, Shape shape, Supplier<double[]> values) {
        Tape tape = like.tape();
        Tensor sample = like.value();
        return tape.apply(
                List.of(),
                () -> Result.of(
                        Tensors.of(values.get(), shape, sample.type()).to(sample.device()), (g, wanted) -> list()));
    }

    /** Computes {@code 1/(1 + exp(−x))}; x is at most 2√C in magnitude. */
    private static Var sigmoid(Var x) {
        return x.mul(-1).exp().add(1).pow(-1);
    }

    /** Returns the weights of all encoders, {@code [encoders, channels]}. */
    public static double[] weights(int encoders, int channels) {
        double[] all = new double[encoders * channels];
        long z = 1;
        for (int i = 0; i < all.length; i++) {
            all[i] = z;
            z = (75 * z + 74) % 65537;
        }
        for (int k = 0; k < encoders; k++) {
            double mean = 0;
            for (int i = 0; i < channels; i++) {
                mean += all[k * channels + i] / channels;
            }
            double squares = 0;
            for (int i = 0; i < channels; i++) {
                all[k * channels + i] -= mean;
                squares += all[k * channels + i] * all[k * channels + i];
            }
            for (int i = 0; i < channels; i++) {
                all[k * channels + i] = squares == 0 ? 1 : all[k * channels + i] / Math.sqrt(squares);
            }
        }
        return all;
    }

    /**
     * Returns the encoding of positions, {@code [channels, h·w]}: sine and cosine of the column in the first half of the
     * channels, of the row in the second half, at wavelengths from 2π to 10000·2π. For channels that are no multiple of
     * 4 it is cut off.
     */
    public static double[] encoding(int channels, int height, int width) {
        int half = Math.ceilDiv(channels, 4) * 2;
        double[] encoding = new double[channels * height * width];
        for (int c = 0; c < channels; c++) {
            int k = c % half;
            double frequency = Math.exp(-(k - k % 2) * Math.log(10_000) / half);
            for (int p = 0; p < height * width; p++) {
                double angle = frequency * (c < half ? p % width : p / width);
                encoding[c * height * width + p] = k % 2 == 0 ? Math.sin(angle) : Math.cos(angle);
            }
        }
        return encoding;
    }
}
