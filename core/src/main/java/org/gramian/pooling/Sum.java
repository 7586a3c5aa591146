package org.gramian.pooling;

import static org.gramian.autodiff.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Arithmetic;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.basis.EnumWords;
import org.gramian.tensor.Products;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * The sum of each map, {@code v_i = Σ_p a(p) f_i(p)}: sum-pooled convolutional features (SPoC).
 *
 * <p>Without a prior {@code a(p) = 1}. With {@link Prior#CENTER}, which assumes that what matters lies in the middle, at
 * row y and column x of h×w, counted from 0:
 *
 * <pre>{@code a = exp(-((y - (h-1)/2)^2 + (x - (w-1)/2)^2) / 2s^2),  s = min(h, w) / 6}</pre>
 *
 * <p>s is a third of the way from the centre to the nearest border, as the authors have it. They whiten the sums by PCA;
 * {@code pca:<channels>} before this word turns and shortens the features so, without dividing by the spread.
 *
 * <p>Babenko, Lempitsky: Aggregating Deep Convolutional Features for Image Retrieval, ICCV 2015.
 *
 * @param prior how much each position counts
 */
public record Sum(Prior prior) implements Aggregation {
    static final Words.Rule RULE = new Words.Rule(
            "sum",
            "sum[:prior=none|center]",
            "sum of each feature map, first order; center: centre-weighted",
            a -> new Sum(Prior.parse(a.text("prior", Prior.NONE.text()))));

    /** How much each position counts. */
    public enum Prior {
        /** All the same. */
        NONE,
        /** The centre most, by a Gaussian. */
        CENTER;

        /** The word, as {@code center}. */
        public String text() {
            return EnumWords.text(this);
        }

        /** Reads {@link #text} back. */
        public static Prior parse(String text) {
            return EnumWords.parse(Prior.class, "the prior", text);
        }
    }

    @Override
    public String text() {
        return prior == Prior.NONE ? "sum" : "sum:prior=" + prior.text();
    }

    @Override
    public long outputs(long channels) {
        return channels;
    }

    @Override
    public boolean isSpatial() {
        return prior == Prior.CENTER;
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        long images = maps.shape().at(0);
        long channels = maps.shape().at(1);
        if (prior == Prior.NONE) {
            return Shapes.reshape(Arithmetic.sum(maps, 2), images, channels);
        }
        int height = Math.toIntExact(maps.shape().at(2));
        int width = Math.toIntExact(maps.shape().at(3));
        Var flat = Shapes.reshape(maps, images, channels, (long) height * width);
        Var sums = maps.tape().apply(List.of(flat), () -> {
            Tensor weights = weights(height, width, flat.value());
            return Result.of(
                    Products.matmul(flat.value(), weights),
                    (g, wanted) -> list(Products.matmul(g, Views.transpose(weights))),
                    weights);
        });
        return Shapes.reshape(sums, images, channels);
    }

    /** The column {@code a [h·w, 1]}, of the maps' type and device. */
    private static Tensor weights(int height, int width, Tensor maps) {
        double[] weights = centred(height, width);
        return Tensors.to(Tensors.of(weights, Shape.of(weights.length, 1), maps.type()), maps.device());
    }

    /** How much each position counts with {@link Prior#CENTER}, row by row. */
    public static double[] centred(int height, int width) {
        double[] weights = new double[height * width];
        double spread = Math.min(height, width) / 6.0;
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                double down = y - (height - 1) / 2.0;
                double right = x - (width - 1) / 2.0;
                weights[y * width + x] = Math.exp(-(down * down + right * right) / (2 * spread * spread));
            }
        }
        return weights;
    }
}
