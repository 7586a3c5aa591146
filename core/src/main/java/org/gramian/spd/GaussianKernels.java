package org.gramian.spd;

import static org.gramian.autodiff.Adjoint.list;

import org.gramian.autodiff.Result;
import org.gramian.tensor.CudaProgram;
import org.gramian.tensor.CudaProgram.Grid;
import org.gramian.tensor.Products;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.jspecify.annotations.Nullable;

/**
 * {@link Rbf} with a width that is constant for the gradient, on a GPU: the same formulas in kernels of our own, which go over
 * the {@code C×C} matrices twice forwards and once backwards beside the products, where operators go over them a dozen times.
 *
 * <p>The squared norms are the diagonal of the Gram matrix. So {@code D_ij = G_ii + G_jj − 2G_ij} is a sum of squares of what
 * the product saw: with TF32 products too, equal maps are at distance 0 and small distances keep their digits, where norms
 * of full precision beside rounded products lose them.
 */
final class GaussianKernels {
    private static final class Program {
        static final CudaProgram RBF = CudaProgram.beside(GaussianKernels.class, "rbf.cu");
    }

    private static final int ROWS = 8; // of a block that adds up distances
    private static final int TILE = 32;

    private GaussianKernels() {}

    /** Whether maps lie where these can be used. */
    static boolean suit(Tensor maps) {
        return CudaProgram.suits(maps);
    }

    /**
     * The kernel matrices.
     *
     * @param given {@code −1/2σ²} for all images, or null for the mean distance of each
     * @param diagonal what stands on the diagonal of K
     */
    static Result apply(Tensor maps, @Nullable Tensor given, double diagonal) {
        int n = Math.toIntExact(maps.size(0));
        int channels = Math.toIntExact(maps.size(1));
        int positions = Math.toIntExact(maps.size(2));
        Tensor x = Tensors.empty(maps.shape(), maps);
        Program.RBF.launch(
                "centre", new Grid(Math.ceilDiv(positions, TILE), n, 1, TILE, 16), maps, x, channels, positions);
        Tensor k = Products.matmul(x, Views.transpose(x));
        Tensor norms = Tensors.empty(Shape.of(n, channels), maps);
        Program.RBF.launch("diagonal", Grid.over((long) n * channels), k, norms, channels, n * channels);
        float keep = given == null ? (float) (1 - Distances.EQUALITY_MARGIN * Distances.epsilon(maps.type())) : 1;
        Tensor factor = given == null
                ? meanWidths(k, norms, keep)
                : Views.contiguous(Views.expand(Views.reshape(given, 1, 1, 1), n, 1, 1));
        Program.RBF.launch(
                "gaussian", new Grid(channels, n, 1, 256, 1), k, norms, factor, channels, keep, (float) diagonal);
        return Result.of(k, (g, wanted) -> list(backward(Views.contiguous(g), k, factor, x)), x, factor);
    }

    private static Tensor meanWidths(Tensor gram, Tensor norms, float keep) {
        int n = Math.toIntExact(gram.size(0));
        int channels = Math.toIntExact(gram.size(1));
        int blocks = Math.ceilDiv(channels, ROWS);
        Tensor parts = Tensors.empty(Shape.of(n, blocks), gram);
        Program.RBF.launch("distances", new Grid(blocks, n, 1, 32 * ROWS, 1), gram, norms, parts, channels, keep);
        Tensor factor = Tensors.empty(Shape.of(n, 1, 1), gram);
        float pairs = (float) ((double) channels * (channels - 1) / 2);
        Program.RBF.launch("widths", Grid.over(n), parts, factor, n, blocks, pairs, (float) Sigma.SMALLEST);
        return factor;
    }

    private static Tensor backward(Tensor g, Tensor k, Tensor factor, Tensor x) {
        int n = Math.toIntExact(x.size(0));
        int channels = Math.toIntExact(x.size(1));
        int tiles = Math.ceilDiv(channels, TILE);
        Tensor t = Tensors.empty(k.shape(), k);
        Tensor rowSums = Tensors.empty(Shape.of(n, tiles, channels), k);
        Program.RBF.launch(
                "symmetric_gradient", new Grid(tiles, tiles, n, TILE, 8), g, k, factor, t, rowSums, channels);
        Tensor tx = Products.matmul(t, x);
        Program.RBF.launch(
                "maps_gradient",
                new Grid(channels, n, 1, 256, 1),
                tx,
                x,
                rowSums,
                channels,
                Math.toIntExact(x.size(2)),
                tiles);
        return tx;
    }
}
