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
import org.gramian.autodiff.Layer;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.pooling.PoolingStage.Context;
import org.gramian.pooling.Reduction.LayerChannels;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;

/**
 * Maps features {@code [n, c, h, w]} to descriptors {@code [n, d]}: reduces channels, aggregates positions, normalizes
 * the vector.
 *
 * @param reductions channel reductions, in order
 * @param aggregation aggregation of all positions to one vector
 * @param normalizations normalizations of the vector, in order
 * @since 0.1
 */
public record Pooling(List<Reduction> reductions, Aggregation aggregation, List<Normalization> normalizations)
        implements Layer {
    public Pooling {
        reductions = List.copyOf(reductions);
        normalizations = List.copyOf(normalizations);
    }

    /**
     * Parses the text form, stages separated by {@code /}, or the name of a method.
     *
     * @throws PoolingSyntaxException if the text is invalid; the message suggests the nearest valid word
     */
    public static Pooling parse(String text) {
        return parse(text, Fidelity.CORRECTED);
    }

    /**
     * Parses the text form; omitted arguments get the defaults of a fidelity.
     *
     * @throws PoolingSyntaxException if the text is invalid; the message suggests the nearest valid word
     */
    public static Pooling parse(String text, Fidelity fidelity) {
        return PoolingParser.parse(text, fidelity);
    }

    /** Returns the text form, which {@link #parse} parses to an equal pooling. */
    public String text() {
        return stages().stream().map(PoolingStage::text).collect(Collectors.joining("/"));
    }

    /**
     * Returns the length d of the descriptor.
     *
     * @param channels number of channels c of the features
     * @throws IllegalArgumentException if the pooling does not support that number of channels
     */
    public long descriptorSize(long channels) {
        return outputs(stages(), channels);
    }

    /** Returns the number of channels after all reductions. */
    long reduced(long channels) {
        return outputs(reductions, channels);
    }

    private static long outputs(List<? extends PoolingStage> stages, long channels) {
        long size = channels;
        for (PoolingStage stage : stages) {
            size = stage.outputs(size);
        }
        return size;
    }

    /**
     * Checks that the aggregation supports the height and width of features.
     *
     * @param features shape {@code [c, h, w]} of the features of one image
     * @throws IllegalArgumentException if it does not
     */
    public void requireFits(Shape features) {
        aggregation.requireFits(features.with(0, reduced(features.at(0))));
    }

    /**
     * Returns the largest number of channels of any feature map in the pooling.
     *
     * @param channels number of channels c of the features
     */
    public long maxChannels(long channels) {
        long widest = channels;
        long size = channels;
        for (Reduction reduction : reductions) {
            size = reduction.outputs(size);
            widest = Math.max(widest, size);
        }
        if (aggregation instanceof Join join) {
            for (Pooling branch : join.branches()) {
                widest = Math.max(widest, branch.maxChannels(size));
            }
        }
        return widest;
    }

    /** Returns the parameters that are initialized from the backbone's weights: own name to name in the network. */
    public Map<String, String> pretrained() {
        Map<String, String> all = new LinkedHashMap<>();
        aggregation.pretrained().forEach((own, name) -> all.put(aggregation.word() + "." + own, name));
        return all;
    }

    /**
     * Returns all parameters, named such as {@code conv.weight} and {@code spd0.weight}.
     *
     * @param channels number of channels c of the features
     */
    @Override
    public List<ParameterSpec> parameters(long channels) {
        List<ParameterSpec> all = new ArrayList<>();
        List<PoolingStage> stages = stages();
        long size = channels;
        for (int i = 0; i < stages.size(); i++) {
            Optional<String> prefix = prefix(i);
            stages.get(i)
                    .parameters(size)
                    .forEach(spec -> all.add(prefix.map(spec::under).orElse(spec)));
            size = stages.get(i).outputs(size);
        }
        return all;
    }

    /**
     * Returns the random inputs that training binds beside the parameters, see {@link PoolingStage#randomInputs}.
     *
     * @param channels number of channels c of the features
     */
    public Map<String, Long> randomInputs(long channels) {
        Map<String, Long> all = new LinkedHashMap<>();
        List<PoolingStage> stages = stages();
        long size = channels;
        for (int i = 0; i < stages.size(); i++) {
            String prefix = prefix(i).map(name -> name + ".").orElse("");
            stages.get(i).randomInputs(size).forEach((name, columns) -> all.put(prefix + name, columns));
            size = stages.get(i).outputs(size);
        }
        return all;
    }

    /**
     * Returns whether the pooling has randomly initialized parameters that need training, such as a 1×1 convolution or
     * a Stiefel matrix. Fitted values, pretrained weights and scalar factors do not count.
     *
     * @param channels number of channels c of the features
     */
    public boolean hasTrainable(long channels) {
        Set<String> pretrained = pretrained().keySet();
        return parameters(channels).stream()
                .anyMatch(spec -> spec.role() != ParameterSpec.Role.FITTED
                        && spec.shape().elements() > 1
                        && !pretrained.contains(spec.name()));
    }

    /**
     * Returns the prefix of the parameters of a stage; empty for a {@link SecondOrder}, whose parts have their own.
     *
     * @param index index in {@link #stages}
     */
    public Optional<String> prefix(int index) {
        if (index < reductions.size()) {
            return Optional.of(name(reductions, index));
        }
        if (index == reductions.size()) {
            return aggregation instanceof SecondOrder ? Optional.empty() : Optional.of(aggregation.word());
        }
        return Optional.of("descriptor." + name(normalizations, index - reductions.size() - 1));
    }

    /** Returns the word of a stage, numbered from its second occurrence on. */
    private static String name(List<? extends PoolingStage> stages, int index) {
        String word = stages.get(index).word();
        long before = stages.subList(0, index).stream()
                .filter(stage -> stage.word().equals(word))
                .count();
        return before == 0 ? word : word + before;
    }

    /** Returns all stages in the order of the data flow. */
    public List<PoolingStage> stages() {
        return Stream.of(reductions, List.of(aggregation), normalizations)
                .<PoolingStage>flatMap(List::stream)
                .toList();
    }

    /**
     * Returns the parameters of one stage under their own names.
     *
     * @param index index in {@link #stages}
     */
    public ParameterSet stageParameters(ParameterSet parameters, int index) {
        return prefix(index).map(parameters::under).orElse(parameters);
    }

    /** Returns the variables of one stage under their own names. */
    public Bindings stageParameters(Bindings parameters, int index) {
        return prefix(index).map(parameters::under).orElse(parameters);
    }

    /**
     * Returns this pooling with all open choices made.
     *
     * @param backbone backbone that computes the features
     * @param images number of training images
     */
    @SuppressWarnings("exports") // for the engines and the training
    public Pooling resolve(Backbone backbone, int images) {
        return resolve(Context.on(backbone, images));
    }

    /** Returns this pooling with all open choices made behind other stages, as in a branch of a {@link Join}. */
    Pooling resolve(Context start) {
        Context place = start;
        List<Reduction> before = new ArrayList<>();
        for (Reduction reduction : withLayerOfTail(start)) {
            Reduction decided = reduction.resolve(place);
            before.add(decided);
            place = place.after(decided);
        }
        Aggregation whole = aggregation.resolve(place);
        place = place.after(whole);
        List<Normalization> after = new ArrayList<>();
        for (Normalization normalization : normalizations) {
            Normalization decided = normalization.resolve(place);
            after.add(decided);
            place = place.after(decided);
        }
        return new Pooling(before, whole, after);
    }

    /** Returns the reductions. Before the network's own tail on the channels of several layers, selects the last layer. */
    private List<Reduction> withLayerOfTail(Context start) {
        List<String> layers = start.backbone().map(Backbone::cutLayers).orElse(List.of());
        boolean selects =
                aggregation instanceof NetworkTail && reductions.isEmpty() && !start.mixed() && layers.size() > 1;
        return selects ? List.of(new LayerChannels(layers.getLast())) : reductions;
    }

    /**
     * Returns this pooling with the choices made that depend on the number of images, for features of an unknown
     * backbone.
     *
     * @param channels number of channels c of the features
     * @param images number of images to fit to
     */
    public Pooling resolve(long channels, int images) {
        return resolve(new Context(Optional.empty(), channels, false, images));
    }

    /** Returns whether gradients pass through every stage and branch. */
    public boolean isDifferentiable() {
        return stages().stream().allMatch(PoolingStage::isDifferentiable);
    }

    /**
     * Initializes all parameters.
     *
     * @param channels number of channels c of the features
     * @param random source of the initial values
     */
    public ParameterSet initialize(long channels, RandomGenerator random, DType type, Device device) {
        descriptorSize(channels); // fails before anything is allocated
        return ParameterSet.initialize(parameters(channels), random, type, device);
    }

    /**
     * Computes the descriptors.
     *
     * @param features {@code [n, c, h, w]}
     * @param parameters a variable for each of {@link #parameters}
     * @return {@code [n, d]}
     */
    @Override
    public Var apply(Var features, Bindings parameters) {
        return trace(features, parameters, (_, _) -> {});
    }

    /**
     * Computes the descriptors and reports the value of every stage, named such as {@code transform 2, relu}, for
     * debugging.
     *
     * @param listener called with the name and the value of each stage as soon as it is computed
     */
    public Var trace(Var features, Bindings parameters, BiConsumer<String, Var> listener) {
        List<PoolingStage> stages = stages();
        Var x = maps(features);
        for (int i = 0; i < stages.size(); i++) {
            Var input = i == reductions.size() ? positions(x, features.shape()) : x;
            x = stages.get(i).trace(input, stageParameters(parameters, i), listener);
        }
        return x;
    }

    /**
     * Applies the aggregation only.
     *
     * @param maps result of {@link #reduce}
     */
    public Var aggregate(Var maps, Bindings parameters) {
        return aggregation.apply(maps, stageParameters(parameters, reductions.size()));
    }

    /**
     * Applies one normalization.
     *
     * @param index index in {@link #normalizations}
     */
    public Var normalize(int index, Var vectors, Bindings parameters) {
        return normalizations.get(index).apply(vectors, stageParameters(parameters, reductions.size() + 1 + index));
    }

    /**
     * Applies the reductions only.
     *
     * @param features {@code [n, c, h, w]}
     * @return {@code [n, C, N]}, or {@code [n, C, h, w]} for a spatial aggregation
     */
    public Var reduce(Var features, Bindings parameters) {
        Var x = maps(features);
        for (int i = 0; i < reductions.size(); i++) {
            x = reductions.get(i).apply(x, stageParameters(parameters, i));
        }
        return positions(x, features.shape());
    }

    /** Flattens features {@code [n, c, h, w]} to maps {@code [n, c, N]}. */
    private static Var maps(Var features) {
        return features.reshape(mapSizes("pooling", features.value()));
    }

    /** Restores the positions {@code [n, C, h, w]} of maps {@code [n, C, N]} for a spatial aggregation. */
    private Var positions(Var maps, Shape features) {
        return aggregation.isSpatial()
                ? maps.reshape(features.at(0), maps.shape().at(1), features.at(2), features.at(3))
                : maps;
    }

    /** Returns the sizes {@code [n, c, N]} of features {@code [n, c, h, w]} flattened to maps. */
    static long[] mapSizes(String operation, Tensor features) {
        if (features.shape().rank() != 4) {
            throw new IllegalArgumentException(
                    operation + ": expected features [n, channels, height, width], found " + features);
        }
        return new long[] {features.size(0), features.size(1), features.size(2) * features.size(3)};
    }

    /**
     * Returns warnings about valid but probably unintended combinations: a convolution that no gradient reaches, a square W that only
     * rotates.
     *
     * @param channels number of channels of the features
     */
    public List<String> warnings(long channels) {
        return warnings(channels, false);
    }

    private List<String> warnings(long channels, boolean rooted) {
        List<String> all = new ArrayList<>();
        boolean blocked = aggregation instanceof Join join
                ? join.branches().stream().noneMatch(Pooling::isDifferentiable)
                : !aggregation.isDifferentiable();
        if (blocked && reductions.stream().anyMatch(Reduction.Conv.class::isInstance)) {
            all.add(aggregation.text() + " passes no gradient: conv before it keeps its random initialization; use"
                    + " pca instead, or remove it");
        }
        boolean bent = rooted || normalizations.stream().anyMatch(Normalization.Root.class::isInstance);
        long size = reduced(channels);
        if (aggregation instanceof Join join) {
            join.branches().forEach(branch -> all.addAll(branch.warnings(size, bent)));
        } else if (aggregation instanceof SecondOrder secondOrder) {
            secondOrder
                    .rotations(size, bent)
                    .forEach(rotation ->
                            all.add(rotation.text() + " keeps its size and no element-wise function follows: it is a"
                                    + " rotation that the classifier can learn as well; put relu after"
                                    + " it, or choose a smaller size"));
        }
        return all;
    }

    @Override
    public String toString() {
        return text();
    }

    /** Thrown for an invalid pooling text; the message names the position, the expected form and the nearest word. */
    public static final class PoolingSyntaxException extends IllegalArgumentException {
        private static final long serialVersionUID = 1;

        /** Creates the exception. */
        public PoolingSyntaxException(String message) {
            super(message);
        }
    }
}
