package org.gramian.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.gramian.accelerate.Acceleration;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Classification;
import org.gramian.autodiff.Layer;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.model.Head;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.ParameterGroup;

/**
 * Model of a workload: a head on feature maps, a backbone with a head, or a backbone, with a batch of input and parameters from
 * {@link SyntheticValues}.
 *
 * <p>The loss is the cross-entropy of the scores; for a backbone without a head, the mean of its feature maps. A head without a
 * backbone also computes the gradient of its feature maps, as fine-tuning does.
 */
final class BenchModel implements AutoCloseable {
    /** Variable name of the feature maps of a head without a backbone. */
    static final String FEATURES = "features";

    /** Learning rate factor of the backbone: its random weights would diverge at the rate of the head. */
    private static final double BACKBONE_RATE = 0.01;

    private final Optional<Backbone> backbone;
    private final Optional<Head> head;
    private final Optional<Layer> pooling;
    private final ParameterSet parameters;
    /** Batch norms folded into convolutions, as prediction does; none where parameters are trained. */
    private final ParameterSet folded;

    private final Precision precision;
    private final Tensor input;
    private final Tensor labels;
    private final Tensor targets;

    private BenchModel(Optional<Backbone> backbone, Optional<Head> head, boolean trained, TaskSpec spec) {
        this.backbone = backbone.map(Acceleration::rewrite);
        this.head = head;
        this.pooling = head.map(Head::pooling).map(Acceleration::rewrite);
        this.precision = spec.precision();
        Device device = spec.device();
        parameters = ParameterSet.initialize(
                SyntheticValues.parameters(backbone, head, spec.number("channels")),
                new SplittableRandom(0),
                DType.F32,
                device);
        folded = trained || backbone.isEmpty()
                ? new ParameterSet()
                : backbone.get().folded(parameters);
        int batch = spec.number("batch");
        input = input(batch, spec);
        int classes = spec.number("classes");
        long[] classOf = LongStream.range(0, batch).map(i -> i % classes).toArray();
        labels = Tensors.ofLongs(classOf, Shape.of(batch)).to(device);
        targets = Classification.oneHot(classOf, classes, DType.F32).to(device);
    }

    static BenchModel of(BenchWorkload workload, TaskSpec spec) {
        Optional<Backbone> backbone = workload.hasBackbone() ? Optional.of(spec.backbone()) : Optional.empty();
        Optional<Head> head = workload.hasHead()
                ? Optional.of(new Head(Pooling.parse(spec.text("pooling")), spec.number("classes"), false))
                : Optional.empty();
        return new BenchModel(backbone, head, workload.trains(), spec);
    }

    private Tensor input(int batch, TaskSpec spec) {
        int pixels = spec.number("pixels");
        int side = spec.number("side");
        Shape shape = backbone.isPresent()
                ? Shape.of(batch, 3, pixels, pixels)
                : Shape.of(batch, spec.number("channels"), side, side);
        Tensor made = SyntheticValues.uniform(shape, 1, 1, spec.device());
        return precision == Precision.BF16 ? made.channelsLast() : made;
    }

    /**
     * Forward pass.
     *
     * @param output scores {@code [n, k]}, or feature maps without a head
     * @param variables parameters and, without a backbone, {@link #FEATURES}, by name
     */
    record Forward(Var output, SequencedMap<String, Var> variables) {}

    Forward forward(Tape tape) {
        SequencedMap<String, Var> variables = parameters.variables(tape);
        variables.putAll(folded.variables(tape));
        Bindings bindings = Bindings.of(variables);
        Var maps;
        if (backbone.isPresent()) {
            Var images = tape.constant(input);
            Var entering = precision == Precision.BF16 ? images.to(DType.BF16) : images;
            maps = backbone.get().apply(entering, bindings).to(DType.F32);
        } else {
            maps = tape.variable(input);
            variables.put(FEATURES, maps);
        }
        Var output = head.isEmpty()
                ? maps
                : head.get()
                        .classify(
                                pooling.orElseThrow().apply(maps, bindings.under(Head.POOLING)),
                                bindings,
                                Head.Mode.TRAINING);
        return new Forward(output, variables);
    }

    Var loss(Var output) {
        return head.isPresent() ? Classification.crossEntropy(output, targets) : output.mean();
    }

    /** Returns the labels of the batch, I64 {@code [n]}. */
    Tensor labels() {
        return labels;
    }

    /** Returns the trained parameters by learning rate; empty without a head. */
    List<ParameterGroup> groups() {
        List<ParameterGroup> groups = new ArrayList<>();
        if (head.isPresent()) {
            backbone.ifPresent(
                    _ -> groups.add(new ParameterGroup(parameters.only(name -> !isHeads(name)), BACKBONE_RATE, 1)));
            groups.add(ParameterGroup.of(parameters.only(BenchModel::isHeads)));
        }
        return groups;
    }

    private static boolean isHeads(String name) {
        return name.startsWith("pooling.") || name.startsWith(Head.CLASSIFIER + ".");
    }

    @Override
    public void close() {
        folded.close();
        parameters.close();
    }
}
