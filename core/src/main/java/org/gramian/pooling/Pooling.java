package org.gramian.pooling;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;

/**
 * From feature maps {@code [n, c, h, w]} to descriptors {@code [n, d]}: channels are reduced, positions aggregated, the
 * vector normalized.
 *
 * @param reductions changes of the number of channels, in order
 * @param aggregation all positions into one vector
 * @param normalizations of that vector, in order
 */
public record Pooling(List<Reduction> reductions, Aggregation aggregation, List<Normalization> normalizations) {
    public Pooling {
        reductions = List.copyOf(reductions);
        normalizations = List.copyOf(normalizations);
    }

    /**
     * Reads the text form, stages joined by {@code /}, or the name of a preset.
     *
     * @throws PoolingSyntaxException if it cannot be read; the message names the nearest valid word
     */
    public static Pooling parse(String text) {
        return parse(text, Fidelity.CORRECTED);
    }

    /**
     * Reads the text form as above, with the arguments that are not written at the values of a fidelity.
     *
     * @throws PoolingSyntaxException if it cannot be read; the message names the nearest valid word
     */
    public static Pooling parse(String text, Fidelity fidelity) {
        return PoolingParser.parse(text, fidelity);
    }

    /** The text form, which {@link #parse} reads back to an equal pooling. */
    public String text() {
        return Stream.of(reductions, List.of(aggregation), normalizations)
                .flatMap(List::stream)
                .map(Stage::text)
                .collect(Collectors.joining("/"));
    }

    /**
     * Length of the descriptor for features of the given number of channels.
     *
     * @throws IllegalArgumentException if the pooling does not fit that number
     */
    public long descriptorSize(long channels) {
        long size = aggregation.outputs(reduced(channels));
        for (Normalization normalization : normalizations) {
            size = normalization.outputs(size);
        }
        return size;
    }

    private long reduced(long channels) {
        long size = channels;
        for (Reduction reduction : reductions) {
            size = reduction.outputs(size);
        }
        return size;
    }

    /** All parameters for features of the given number of channels, as {@code conv.weight} and {@code spd0.weight}. */
    public List<ParameterSpec> parameters(long channels) {
        List<ParameterSpec> all = new ArrayList<>();
        long size = channels;
        for (int i = 0; i < reductions.size(); i++) {
            for (ParameterSpec spec : reductions.get(i).parameters(size)) {
                all.add(spec.under(name(i)));
            }
            size = reductions.get(i).outputs(size);
        }
        all.addAll(aggregation.parameters(size));
        return all;
    }

    /** The name of a reduction's parameters: its word, numbered from the second of that word on. */
    String name(int index) {
        String word = word(reductions.get(index));
        long before = reductions.subList(0, index).stream()
                .filter(r -> word(r).equals(word))
                .count();
        return before == 0 ? word : word + before;
    }

    private static String word(Reduction reduction) {
        return reduction instanceof Reduction.Conv ? "conv" : "pca";
    }

    /** First values of all parameters. */
    public ParameterSet initialize(long channels, RandomGenerator random, DType type, Device device) {
        descriptorSize(channels); // says what does not fit before anything is allocated
        return ParameterSet.initialize(parameters(channels), random, type, device);
    }

    /** Descriptors {@code [n, d]} of features {@code [n, c, h, w]}. */
    public Var apply(Var features, Bindings parameters) {
        return trace(features, parameters, (stage, value) -> {});
    }

    /**
     * The same, with a listener that is told what leaves every stage as soon as it is computed, under words such as
     * {@code transform 2, relu}: for looking into a pooling whose result is not what it should be.
     */
    public Var trace(Var features, Bindings parameters, BiConsumer<String, Var> listener) {
        Var maps = reduce(features, parameters, listener);
        Var x = aggregation instanceof SecondOrder secondOrder
                ? secondOrder.trace(maps, parameters, listener)
                : told(listener, "aggregation " + aggregation.text(), aggregation.apply(maps, parameters));
        for (Normalization normalization : normalizations) {
            x = told(listener, "normalization " + normalization.text(), normalization.apply(x, parameters));
        }
        return x;
    }

    /** The maps {@code [n, C, N]} that the aggregation sees, of features {@code [n, c, h, w]}. */
    public Var reduce(Var features, Bindings parameters) {
        return reduce(features, parameters, (stage, value) -> {});
    }

    private Var reduce(Var features, Bindings parameters, BiConsumer<String, Var> listener) {
        Var x = Shapes.reshape(features, mapSizes("pooling", features.value()));
        for (int i = 0; i < reductions.size(); i++) {
            Reduction reduction = reductions.get(i);
            x = told(listener, "reduction " + reduction.text(), reduction.apply(x, parameters.under(name(i))));
        }
        return x;
    }

    static Var told(BiConsumer<String, Var> listener, String stage, Var value) {
        listener.accept(stage, value);
        return value;
    }

    /** The sizes {@code [n, c, N]} of features {@code [n, c, h, w]} seen as maps. */
    static long[] mapSizes(String operation, Tensor features) {
        if (features.shape().rank() != 4) {
            throw new IllegalArgumentException(
                    operation + ": features [n, channels, height, width] are wanted, found " + features);
        }
        return new long[] {features.size(0), features.size(1), features.size(2) * features.size(3)};
    }

    /** What is allowed but probably not meant, for features of the given number of channels. */
    public List<String> warnings(long channels) {
        if (!(aggregation instanceof SecondOrder secondOrder)) {
            return List.of();
        }
        List<String> warnings = new ArrayList<>();
        boolean rooted = normalizations.stream().anyMatch(Normalization.Root.class::isInstance);
        long size = reduced(channels);
        List<Transform> transforms = secondOrder.transforms();
        for (int i = 0; i < transforms.size(); i++) {
            boolean rotation = transforms.get(i) instanceof Transform.Spd spd && spd.size() == size;
            if (rotation && isAbsorbed(transforms.subList(i + 1, transforms.size()), rooted)) {
                warnings.add(transforms.get(i).text() + " keeps the size " + size + " and no element-wise function"
                        + " follows: it is a rotation that the classifier can learn as well; put relu after it, or"
                        + " choose a smaller size");
            }
            size = transforms.get(i).outputs(size);
        }
        return warnings;
    }

    /** Whether what follows a rotation can take it over: another spd, or the classifier if nothing bends in between. */
    private static boolean isAbsorbed(List<Transform> following, boolean rooted) {
        for (Transform transform : following) {
            switch (transform) {
                case Transform.Relu _ -> {
                    return false;
                }
                case Transform.Spd _ -> {
                    return true;
                }
                default -> {} // a function of eigenvalues turns with the matrix
            }
        }
        return !rooted;
    }

    @Override
    public String toString() {
        return text();
    }
}
