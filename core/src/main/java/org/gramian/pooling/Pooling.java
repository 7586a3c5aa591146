package org.gramian.pooling;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.spd.TriangleKernels;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
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
    /** Normalizations that {@link TriangleKernels#unitRoots} computes together with triu: root and l2. */
    private static final int UNIT_ROOTS = 2;

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
        return stages().stream().map(Stage::text).collect(Collectors.joining("/"));
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

    /** Number of channels after all reductions. */
    long reduced(long channels) {
        long size = channels;
        for (Reduction reduction : reductions) {
            size = reduction.outputs(size);
        }
        return size;
    }

    /**
     * Says no to features of a height and width that the aggregation cannot take.
     *
     * @param features the shape {@code [c, h, w]} of those of one image
     * @throws IllegalArgumentException if they do not fit
     */
    public void requireFits(Shape features) {
        aggregation.requireFits(features.with(0, reduced(features.at(0))));
    }

    /** The largest number of channels that maps have anywhere in it, for features of the given number. */
    public long widest(long channels) {
        long widest = channels;
        long size = channels;
        for (Reduction reduction : reductions) {
            size = reduction.outputs(size);
            widest = Math.max(widest, size);
        }
        if (aggregation instanceof Join join) {
            for (Pooling branch : join.branches()) {
                widest = Math.max(widest, branch.widest(size));
            }
        }
        return widest;
    }

    /**
     * Those of its parameters that begin at a network's weights and belong to that network: the network's name of each by its
     * own.
     */
    public Map<String, String> pretrained() {
        Map<String, String> all = new LinkedHashMap<>();
        aggregation.pretrained().forEach((own, networks) -> all.put(aggregation.word() + "." + own, networks));
        return all;
    }

    /** All parameters for features of the given number of channels, as {@code conv.weight} and {@code spd0.weight}. */
    public List<ParameterSpec> parameters(long channels) {
        List<ParameterSpec> all = new ArrayList<>();
        long size = channels;
        for (int i = 0; i < reductions.size(); i++) {
            for (ParameterSpec spec : reductions.get(i).parameters(size)) {
                all.add(spec.under(reductionName(i)));
            }
            size = reductions.get(i).outputs(size);
        }
        for (ParameterSpec spec : aggregation.parameters(size)) {
            all.add(aggregation instanceof SecondOrder ? spec : spec.under(aggregation.word()));
        }
        size = aggregation.outputs(size);
        for (int i = 0; i < normalizations.size(); i++) {
            for (ParameterSpec spec : normalizations.get(i).parameters(size)) {
                all.add(spec.under(normalizationName(i)));
            }
            size = normalizations.get(i).outputs(size);
        }
        return all;
    }

    /**
     * Whether it has parameters whose first values are random and that only training makes good: a 1×1 convolution, a Stiefel
     * matrix. Fitted values, a network's own weights and a plain factor are none.
     */
    public boolean hasTrainable(long channels) {
        Set<String> pretrained = pretrained().keySet();
        return parameters(channels).stream()
                .anyMatch(spec -> spec.role() != ParameterSpec.Role.FITTED
                        && spec.shape().elements() > 1
                        && !pretrained.contains(spec.name()));
    }

    private String reductionName(int index) {
        return name(reductions, index);
    }

    private String normalizationName(int index) {
        return "descriptor." + name(normalizations, index);
    }

    /** The name of a stage's parameters: its word, numbered from the second of that word on. */
    private static String name(List<? extends Stage> stages, int index) {
        String word = stages.get(index).word();
        long before = stages.subList(0, index).stream()
                .filter(stage -> stage.word().equals(word))
                .count();
        return before == 0 ? word : word + before;
    }

    /** All stages in the order of the data. */
    public List<Stage> stages() {
        return Stream.of(reductions, List.of(aggregation), normalizations)
                .<Stage>flatMap(List::stream)
                .toList();
    }

    /** The parameters of the stage at a place of {@link #stages}, under their own names. */
    public ParameterSet own(ParameterSet parameters, int index) {
        if (index < reductions.size()) {
            return parameters.under(reductionName(index));
        }
        if (index == reductions.size()) {
            return aggregation instanceof SecondOrder ? parameters : parameters.under(aggregation.word());
        }
        return parameters.under(normalizationName(index - reductions.size() - 1));
    }

    private Bindings own(Bindings parameters) {
        return aggregation instanceof SecondOrder ? parameters : parameters.under(aggregation.word());
    }

    /**
     * The same with all decided that its text leaves open.
     *
     * @param backbone the network that it stands on
     * @param images how many there are to train on
     */
    public Pooling settled(Backbone backbone, int images) {
        return settled(PoolingContext.on(backbone, images));
    }

    /** The same behind other stages, as in a branch of a {@link Join}. */
    Pooling settled(PoolingContext start) {
        PoolingContext place = start;
        List<Reduction> before = new ArrayList<>();
        for (Reduction reduction : withLayerOfTail(start)) {
            Reduction decided = reduction.settled(place);
            before.add(decided);
            place = place.after(decided);
        }
        Aggregation whole = aggregation.settled(place);
        place = place.after(whole);
        List<Normalization> after = new ArrayList<>();
        for (Normalization normalization : normalizations) {
            Normalization decided = normalization.settled(place);
            after.add(decided);
            place = place.after(decided);
        }
        return new Pooling(before, whole, after);
    }

    /** The reductions; before a network's own tail on the channels of several layers, the selection of the last layer. */
    private List<Reduction> withLayerOfTail(PoolingContext start) {
        List<String> layers = start.backbone().map(Backbone::cutLayers).orElse(List.of());
        boolean selects =
                aggregation instanceof NetworkTail && reductions.isEmpty() && !start.mixed() && layers.size() > 1;
        return selects ? List.of(new LayerChannels(layers.getLast())) : reductions;
    }

    /**
     * The same with all decided that the number of images decides, for features of which no network is known.
     *
     * @param images how many there are to fit to
     */
    public Pooling settled(long channels, int images) {
        return settled(new PoolingContext(Optional.empty(), channels, false, images));
    }

    /** Whether training can reach the features: what comes before a pooling that cannot be differentiated stays as it is. */
    public boolean isDifferentiable() {
        return stages().stream().allMatch(Stage::isDifferentiable);
    }

    /** First values of all parameters. */
    public ParameterSet initialize(long channels, RandomGenerator random, DType type, Device device) {
        descriptorSize(channels); // says what does not fit before anything is allocated
        return ParameterSet.initialize(parameters(channels), random, type, device);
    }

    /** Descriptors {@code [n, d]} of features {@code [n, c, h, w]}. */
    public Var apply(Var features, Bindings parameters) {
        return aggregation instanceof SecondOrder secondOrder && hasUnitRoots()
                ? unitRoots(secondOrder, features, parameters)
                : trace(features, parameters, (stage, value) -> {});
    }

    /** Whether the vector is {@code triu/root/l2}, perhaps scaled, with a root that is smooth at 0. */
    private boolean hasUnitRoots() {
        return aggregation instanceof SecondOrder secondOrder
                && secondOrder.vectorization().equals(new Vectorization.Triu())
                && normalizations.size() >= UNIT_ROOTS
                && normalizations.getFirst() instanceof Normalization.Root(double epsilon, Normalization.Slope slope)
                && epsilon > 0
                && slope == Normalization.Slope.EXACT
                && normalizations.get(1) instanceof Normalization.L2
                && normalizations.stream().skip(UNIT_ROOTS).allMatch(Normalization.Scale.class::isInstance);
    }

    /** The end in one stage where there are kernels for it. */
    private Var unitRoots(SecondOrder secondOrder, Var features, Bindings parameters) {
        Var matrices = secondOrder.matrices(reduce(features, parameters), parameters);
        Var transformed = secondOrder.transform(matrices, parameters);
        if (TriangleKernels.suit(transformed)) {
            double epsilon = ((Normalization.Root) normalizations.getFirst()).epsilon();
            Var unit = TriangleKernels.unitRoots(transformed, epsilon, Normalization.L2.SMALLEST_NORM);
            return normalizeFrom(UNIT_ROOTS, unit, parameters);
        }
        return normalizeFrom(0, secondOrder.vectorize(transformed, parameters), parameters);
    }

    private Var normalizeFrom(int first, Var vectors, Bindings parameters) {
        Var x = vectors;
        for (int i = first; i < normalizations.size(); i++) {
            x = normalize(i, x, parameters);
        }
        return x;
    }

    /**
     * The same, with a listener that is told what leaves every stage as soon as it is computed, under words such as
     * {@code transform 2, relu}: for looking into a pooling whose result is not what it should be.
     */
    public Var trace(Var features, Bindings parameters, BiConsumer<String, Var> listener) {
        Var maps = reduce(features, parameters, listener);
        Var x = switch (aggregation) {
            case SecondOrder secondOrder -> secondOrder.trace(maps, parameters, listener);
            case Join join -> join.trace(maps, own(parameters), listener);
            default -> told(listener, "aggregation " + aggregation.text(), aggregation.apply(maps, own(parameters)));
        };
        for (int i = 0; i < normalizations.size(); i++) {
            x = told(listener, "normalization " + normalizations.get(i).text(), normalize(i, x, parameters));
        }
        return x;
    }

    /** Maps {@code [n, C, N]} as the aggregation wants to see them: as {@code [n, C, h, w]} if it is spatial. */
    Var seen(Var maps, long height, long width) {
        return aggregation.isSpatial()
                ? Shapes.reshape(maps, maps.shape().at(0), maps.shape().at(1), height, width)
                : maps;
    }

    /** The aggregation alone, of maps as {@link #reduce} gives them. */
    public Var aggregate(Var maps, Bindings parameters) {
        return aggregation.apply(maps, own(parameters));
    }

    /** The normalization at a place of {@link #normalizations} alone. */
    public Var normalize(int index, Var vectors, Bindings parameters) {
        return normalizations.get(index).apply(vectors, parameters.under(normalizationName(index)));
    }

    /** The maps that the aggregation sees, {@code [n, C, N]} or {@code [n, C, h, w]}, of features {@code [n, c, h, w]}. */
    public Var reduce(Var features, Bindings parameters) {
        return reduce(features, parameters, (stage, value) -> {});
    }

    private Var reduce(Var features, Bindings parameters, BiConsumer<String, Var> listener) {
        Var x = Shapes.reshape(features, mapSizes("pooling", features.value()));
        for (int i = 0; i < reductions.size(); i++) {
            Reduction reduction = reductions.get(i);
            x = told(listener, "reduction " + reduction.text(), reduction.apply(x, parameters.under(reductionName(i))));
        }
        return seen(x, features.shape().at(2), features.shape().at(3));
    }

    static Var told(BiConsumer<String, Var> listener, String stage, Var value) {
        listener.accept(stage, value);
        return value;
    }

    /** The sizes {@code [n, c, N]} of features {@code [n, c, h, w]} seen as maps. */
    static long[] mapSizes(String operation, Tensor features) {
        if (features.shape().rank() != 4) {
            throw new IllegalArgumentException(
                    operation + ": expected features [n, channels, height, width], found " + features);
        }
        return new long[] {features.size(0), features.size(1), features.size(2) * features.size(3)};
    }

    /** What is allowed but probably not meant, for features of the given number of channels. */
    public List<String> warnings(long channels) {
        return Warnings.of(this, channels, false);
    }

    @Override
    public String toString() {
        return text();
    }
}
