package org.gramian.pooling;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Var;
import org.gramian.spd.Kernel;

/**
 * The paper's path: a kernel matrix over the maps, refined on the manifold, laid out as a vector.
 *
 * <p>Shapes: {@code [n, C, N]} → kernel {@code [n, C, C]} → transforms {@code [n, C', C']} → vectorization {@code [n, d]}.
 * Parameters are those of the kernel under its word, and of the k-th {@link Transform.Spd} under {@code spd<k>}.
 */
public record SecondOrder(Kernel kernel, List<Transform> transforms, Vectorization vectorization)
        implements Aggregation {
    public SecondOrder {
        transforms = List.copyOf(transforms);
    }

    @Override
    public String text() {
        return Stream.of(
                        Stream.of(KernelText.of(kernel)),
                        transforms.stream().map(Stage::text),
                        Stream.of(vectorization.text()))
                .flatMap(s -> s)
                .collect(Collectors.joining("/"));
    }

    @Override
    public long outputs(long channels) {
        long size = channels;
        for (Transform transform : transforms) {
            size = transform.outputs(size);
        }
        return vectorization.outputs(size);
    }

    @Override
    public List<ParameterSpec> parameters(long channels) {
        List<ParameterSpec> all = new ArrayList<>();
        kernel.parameters(channels).forEach(spec -> all.add(spec.under(KernelText.word(kernel))));
        long size = channels;
        int index = 0;
        for (Transform transform : transforms) {
            for (ParameterSpec spec : transform.parameters(size)) {
                all.add(spec.under("spd" + index));
            }
            index += transform instanceof Transform.Spd ? 1 : 0;
            size = transform.outputs(size);
        }
        return all;
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Var matrices = kernel.apply(maps, parameters.under(KernelText.word(kernel)));
        int index = 0;
        for (Transform transform : transforms) {
            matrices = transform.apply(matrices, parameters.under("spd" + index));
            index += transform instanceof Transform.Spd ? 1 : 0;
        }
        return vectorization.apply(matrices, parameters);
    }
}
