package org.gramian.tensor;

import java.util.Arrays;
import org.gramian.tensor.CudaProgram.Grid;

/** Passes over single elements for which libtorch has no single operator, in kernels of our own on a GPU. */
final class ElementwiseKernels {
    private static final class Program {
        static final CudaProgram ELEMENTWISE = CudaProgram.beside(ElementwiseKernels.class, "elementwise.cu");
    }

    private ElementwiseKernels() {}

    /** Whether these can be used for two tensors of one shape, of which the second lies densely. */
    static boolean suit(Tensor a, Tensor b) {
        return a.device().kind() == Device.Kind.CUDA
                && CudaProgram.isAvailable()
                && a.type() == b.type()
                && (a.type() == DType.F32
                        || (a.type() == DType.BF16 && a.shape().elements() % 2 == 0))
                && a.shape().equals(b.shape())
                && b.isDense();
    }

    /** The gradient that passes a rectifier whose value is {@code y}; the result lies as {@code y} does. */
    static Tensor reluBackward(Tensor g, Tensor y, Activation activation) {
        long count = g.shape().elements();
        Tensor result = Tensors.emptyLike(y);
        Tensor upstream = g;
        if (!Arrays.equals(g.strides(), y.strides())) {
            result.copyFrom(g);
            upstream = result; // each element is read before it is written
        }
        if (g.type() == DType.F32) {
            Program.ELEMENTWISE.launch("relu_backward", Grid.over(count), upstream, y, result, count, activation.high);
        } else {
            Program.ELEMENTWISE.launch(
                    "relu_backward_bf16", Grid.over(count / 2), upstream, y, result, count / 2, activation.highBits());
        }
        return result;
    }
}
