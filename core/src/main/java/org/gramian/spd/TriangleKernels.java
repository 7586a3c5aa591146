package org.gramian.spd;

import static org.gramian.autodiff.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.CudaProgram;
import org.gramian.tensor.CudaProgram.Grid;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * {@link UpperTriangle}, the smoothed root {@code v/(√(|v|+ε) + √ε)} and division by the norm at once, on a GPU: what the
 * three compute one after the other, in CUDA kernels that read the triangle in place and write the vector once.
 */
public final class TriangleKernels {
    private static final class Program {
        static final CudaProgram TRIANGLE = CudaProgram.beside(TriangleKernels.class, "triangle.cu");
    }

    private static final int TILE = 32;

    private TriangleKernels() {}

    /** Whether matrices lie where these can be used. */
    public static boolean suit(Var matrices) {
        return CudaProgram.suits(matrices.value());
    }

    /**
     * Vectors {@code [n, C(C+1)/2]} of unit length from symmetric matrices {@code [n, C, C]}.
     *
     * @param epsilon ε, more than 0
     * @param smallest no norm counts as smaller
     */
    public static Var unitRoots(Var matrices, double epsilon, double smallest) {
        return matrices.tape().apply(List.of(matrices), () -> apply(matrices.value(), epsilon, smallest));
    }

    private static Result apply(Tensor y, double epsilon, double smallest) {
        int n = Math.toIntExact(y.size(0));
        int size = Math.toIntExact(y.size(1));
        long length = UpperTriangle.length(size);
        float margin = (float) epsilon;
        float rootOfMargin = (float) Math.sqrt(epsilon);
        Grid rows = new Grid(size, n, 1, 256, 1);
        Grid images = new Grid(n, 1, 1, 256, 1);
        Tensor parts = Tensors.empty(Shape.of(n, size), y);
        Program.TRIANGLE.launch("squares", rows, y, parts, size, margin, rootOfMargin);
        Tensor norms = Tensors.empty(Shape.of(n, 1), y);
        Program.TRIANGLE.launch("totals", images, parts, norms, size, 1, (float) smallest);
        Tensor u = Tensors.empty(Shape.of(n, length), y);
        Program.TRIANGLE.launch("unit_vectors", rows, y, norms, u, size, length, margin, rootOfMargin);
        return Result.of(
                u,
                (upstream, wanted) -> {
                    Tensor g = Views.contiguous(upstream);
                    Program.TRIANGLE.launch("along", rows, u, g, parts, size, length);
                    Tensor dots = Tensors.empty(Shape.of(n, 1), y);
                    Program.TRIANGLE.launch("totals", images, parts, dots, size, 0, 0f);
                    Tensor e = Tensors.empty(y.shape(), y);
                    int tiles = Math.ceilDiv(size, TILE);
                    Program.TRIANGLE.launch(
                            "matrix_gradient",
                            new Grid(tiles, tiles, n, TILE, 8),
                            y,
                            u,
                            g,
                            norms,
                            dots,
                            e,
                            size,
                            length,
                            margin);
                    return list(e);
                },
                norms,
                parts);
    }
}
