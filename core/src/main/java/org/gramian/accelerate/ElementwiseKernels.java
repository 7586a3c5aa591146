package org.gramian.accelerate;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.gramian.tensor.Activation;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.CudaProgram;
import org.gramian.tensor.cuda.CudaProgram.LaunchConfig;

/** CUDA kernels for element-wise passes that libtorch has no single operator for. */
final class ElementwiseKernels {
    private static final class Program {
        static final CudaProgram ELEMENTWISE = CudaProgram.of(ElementwiseKernels.class, "elementwise.cu", Map.of());
    }

    /** Tensors of a launch, whose addresses it carries by value. */
    private static final int SOURCES = 32;

    private static final int VECTOR = 4;

    private ElementwiseKernels() {}

    /** Computes {@link Activation#backward}, that of ReLU and ReLU6 on a GPU by one kernel. */
    static Tensor backward(Activation activation, Tensor g, Tensor saved) {
        boolean masks = activation == Activation.RELU || activation == Activation.RELU6;
        return masks && isSupported(g, saved) ? reluBackward(g, saved, activation) : activation.backward(g, saved);
    }

    /** Returns whether the kernels can process two tensors of one shape, the second one dense. */
    private static boolean isSupported(Tensor a, Tensor b) {
        return a.device().kind() == Device.Kind.CUDA
                && CudaProgram.isAvailable()
                && a.type() == b.type()
                && (a.type() == DType.F32
                        || (a.type() == DType.BF16 && a.shape().elements() % 2 == 0))
                && a.shape().equals(b.shape())
                && b.isDense();
    }

    /** Computes the gradient of an activation with value {@code y}; the result has the strides of {@code y}. */
    private static Tensor reluBackward(Tensor g, Tensor y, Activation activation) {
        long count = g.shape().elements();
        Tensor result = Tensors.emptyLike(y);
        Tensor upstream = g;
        if (!Arrays.equals(g.strides(), y.strides())) {
            result.copyFrom(g);
            upstream = result; // each element is read before it is written
        }
        if (g.type() == DType.F32) {
            Program.ELEMENTWISE.launch(
                    "relu_backward", LaunchConfig.over(count), upstream, y, result, count, activation.high());
        } else {
            Program.ELEMENTWISE.launch(
                    "relu_backward_bf16",
                    LaunchConfig.over(count / 2),
                    upstream,
                    y,
                    result,
                    count / 2,
                    FeatureMapKernels.highBits(activation));
        }
        return result;
    }

    /** Returns whether {@link #rounded} supports float32 tensors. */
    static boolean isSupported(List<Tensor> sources) {
        return !sources.isEmpty()
                && sources.size() <= SOURCES
                && sources.stream()
                        .allMatch(source -> CudaProgram.isSupported(source)
                                && source.device().equals(sources.getFirst().device())
                                && source.shape().elements() > 0
                                && source.shape().elements() % (2 * VECTOR) == 0
                                && CudaProgram.isAligned(source))
                && sources.stream()
                                .mapToLong(source -> source.shape().elements())
                                .sum()
                        < Integer.MAX_VALUE;
    }

    /**
     * Rounds tensors to bfloat16 in one launch.
     *
     * @return the elements of all tensors without gaps, {@code [elements]}; each tensor begins at a multiple of 16 bytes
     */
    static Tensor rounded(List<Tensor> sources) {
        CudaProgram.Struct table = new CudaProgram.Struct(12 * SOURCES + 8);
        long start = 0;
        for (int i = 0; i < sources.size(); i++) {
            table.set(8 * i, sources.get(i));
            table.set(8 * SOURCES + 4 * i, (int) (start / VECTOR));
            start += sources.get(i).shape().elements();
        }
        table.set(12 * SOURCES, sources.size());
        table.set(12 * SOURCES + 4, (int) (start / VECTOR));
        Tensor out =
                Tensors.empty(Shape.of(start), DType.BF16, sources.getFirst().device());
        Program.ELEMENTWISE.launch("round_all", LaunchConfig.over(start / VECTOR), out, table);
        return out;
    }
}
