package org.gramian.pooling;

import static org.gramian.pooling.Pooling.told;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
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
        return trace(maps, parameters, (stage, value) -> {});
    }

    /** The transforms alone, from kernel matrices {@code [n, C, C]} to {@code [n, C', C']}. */
    public Var transform(Var matrices, Bindings parameters) {
        return transform(matrices, parameters, (stage, value) -> {});
    }

    /** As {@link Pooling#trace}. */
    Var trace(Var maps, Bindings parameters, BiConsumer<String, Var> listener) {
        Var matrices = told(
                listener,
                "kernel " + KernelText.of(kernel),
                kernel.apply(maps, parameters.under(KernelText.word(kernel))));
        Var transformed = transform(matrices, parameters, listener);
        return told(listener, "vectorization " + vectorization.text(), vectorization.apply(transformed, parameters));
    }

    private Var transform(Var kernelMatrices, Bindings parameters, BiConsumer<String, Var> listener) {
        Var matrices = kernelMatrices;
        int index = 0;
        for (int i = 0; i < transforms.size(); i++) {
            Transform transform = transforms.get(i);
            matrices = told(
                    listener,
                    "transform " + (i + 1) + ", " + transform.text(),
                    transform.apply(matrices, parameters.under("spd" + index)));
            index += transform instanceof Transform.Spd ? 1 : 0;
        }
        return matrices;
    }
}
