package org.gramian.tensor;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.gramian.tensor.CudaProgram.LaunchConfig;

/** CUDA kernels for element-wise passes that libtorch has no single operator for. */
final class ElementwiseKernels {
    private static final class Program {
        static final CudaProgram ELEMENTWISE = CudaProgram.of("elementwise.cu");
    }

    private ElementwiseKernels() {}

    /** Returns whether the kernels can process two tensors of one shape, the second one dense. */
    static boolean suit(Tensor a, Tensor b) {
        return a.device().kind() == Device.Kind.CUDA
                && CudaProgram.isAvailable()
                && a.type() == b.type()
                && (a.type() == DType.F32
                        || (a.type() == DType.BF16 && a.shape().elements() % 2 == 0))
                && a.shape().equals(b.shape())
                && b.isDense();
    }

    /** Computes the gradient of an activation with value {@code y}; the result has the strides of {@code y}. */
    static Tensor reluBackward(Tensor g, Tensor y, Activation activation) {
        long count = g.shape().elements();
        Tensor result = Tensors.emptyLike(y);
        Tensor upstream = g;
        if (!Arrays.equals(g.strides(), y.strides())) {
            result.copyFrom(g);
            upstream = result; // each element is read before it is written
        }
        if (g.type() == DType.F32) {
            Program.ELEMENTWISE.launch(
                    "relu_backward", LaunchConfig.over(count), upstream, y, result, count, activation.high);
        } else {
            Program.ELEMENTWISE.launch(
                    "relu_backward_bf16",
                    LaunchConfig.over(count / 2),
                    upstream,
                    y,
                    result,
                    count / 2,
                    activation.highBits());
        }
        return result;
    }

    /** Tensors of a launch, whose addresses it carries by value. */
    private static final int SOURCES = 32;

    private static final int VECTOR = 4;

    static boolean suit(List<Tensor> sources) {
        return !sources.isEmpty()
                && sources.size() <= SOURCES
                && sources.stream()
                        .allMatch(source -> CudaProgram.suits(source)
                                && source.device().equals(sources.getFirst().device())
                                && source.shape().elements() > 0
                                && source.shape().elements() % (2 * VECTOR) == 0
                                && CudaProgram.isAligned(source))
                && sources.stream()
                                .mapToLong(source -> source.shape().elements())
                                .sum()
                        < Integer.MAX_VALUE;
    }

    /** Rounds tensors into parts of one, each of which begins at a multiple of 16 bytes. */
    static List<Tensor> rounded(List<Tensor> sources) {
        CudaProgram.Struct table = new CudaProgram.Struct(12 * SOURCES + 8);
        long[] starts = new long[sources.size() + 1];
        for (int i = 0; i < sources.size(); i++) {
            table.set(8 * i, sources.get(i));
            table.set(8 * SOURCES + 4 * i, (int) (starts[i] / VECTOR));
            starts[i + 1] = starts[i] + sources.get(i).shape().elements();
        }
        long all = starts[sources.size()];
        table.set(12 * SOURCES, sources.size());
        table.set(12 * SOURCES + 4, (int) (all / VECTOR));
        Tensor out = Tensors.empty(Shape.of(all), DType.BF16, sources.getFirst().device());
        Program.ELEMENTWISE.launch("round_all", LaunchConfig.over(all / VECTOR), out, table);
        return IntStream.range(0, sources.size())
                .mapToObj(i -> out.slice(0, starts[i], starts[i + 1])
                        .reshape(sources.get(i).shape().sizes()))
                .toList();
    }
}
