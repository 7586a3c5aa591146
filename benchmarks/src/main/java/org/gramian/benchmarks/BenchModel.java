package org.gramian.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.gramian.accelerate.Acceleration;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Layer;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Classification;
import org.gramian.backbone.Backbone;
import org.gramian.model.Head;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.Optimizer.ParameterGroup;

/**
 * Model of a task: a head on feature maps, a backbone with a head, or a backbone, with a batch of input and parameters from
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
    /** Batch norms folded into convolutions, as in prediction; none where parameters are trained. */
    private final ParameterSet folded;

    private final boolean bfloat16;
    private final Tensor input;
    private final Tensor labels;
    private final Tensor targets;

    BenchModel(Task task) {
        Optional<Backbone> network = task.hasBackbone() ? Optional.of(task.network()) : Optional.empty();
        head = task.hasHead()
                ? Optional.of(new Head(Pooling.parse(task.pooling()), task.classes(), false))
                : Optional.empty();
        backbone = network.map(Acceleration::rewrite);
        pooling = head.map(Head::pooling).map(Acceleration::rewrite);
        bfloat16 = task.bfloat16();
        Device device = task.torchDevice();
        parameters = ParameterSet.initialize(
                SyntheticValues.parameters(network, head, task.channels()), new SplittableRandom(0), DType.F32, device);
        folded = task.trains() || network.isEmpty()
                ? new ParameterSet()
                : network.get().folded(parameters);
        Shape shape = task.hasBackbone()
                ? Shape.of(task.batch(), 3, task.pixels(), task.pixels())
                : Shape.of(task.batch(), task.channels(), task.side(), task.side());
        Tensor values = SyntheticValues.uniform(shape, 1, 1, device);
        input = bfloat16 ? values.channelsLast() : values;
        long[] classOf =
                LongStream.range(0, task.batch()).map(i -> i % task.classes()).toArray();
        labels = Tensors.ofLongs(classOf, Shape.of(task.batch())).to(device);
        targets = Classification.oneHot(classOf, task.classes(), DType.F32).to(device);
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
            Var entering = bfloat16 ? images.to(DType.BF16) : images;
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
