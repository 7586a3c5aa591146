package org.gramian.explain.gradient;

import java.lang.foreign.MemorySegment;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.model.Engine;
import org.gramian.model.Head;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.pooling.Aggregation;
import org.gramian.pooling.Join;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.SecondOrder;
import org.gramian.pooling.Vectorization;
import org.gramian.pooling.Vectorization.Triu;
import org.gramian.spd.Kernel;
import org.gramian.spd.KernelSum;
import org.gramian.spd.Rbf;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * The gradient of a class's score with respect to the feature maps that the pooling reads, and to the kernel matrix or aggregated
 * maps of the head.
 */
record ScoreGradient(Model model) {
    /**
     * Result of a forward and backward pass; the tensors belong to the current scope.
     *
     * @param scores of every crop, {@code [n, k]}
     */
    @SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
    record Gradients(
            float[][] scores, Tensor features, Tensor maps, Tensor aggregatedFeatures, Tensor aggregatedGradient) {}

    /** Computes the feature maps of crops {@code [n, 3, s, s]}, in the current scope. */
    Tensor features(MemorySegment crops, Shape shape) {
        try (Tape tape = Tape.inference()) {
            Tensor images = Tensors.viewOf(crops, DType.F32, shape).to(model.device());
            Var maps = model.backbone().apply(tape.constant(images), frozen(model.backboneParameters(), tape));
            return maps.value().copy();
        }
    }

    /** Computes the maps {@code [n, C, N]} that the pooling aggregates. */
    Tensor maps(Tensor features) {
        HeadPath path = HeadPath.of(model.head());
        try (Tape tape = Tape.inference()) {
            return path.maps(tape.constant(features), frozen(model.headParameters(), tape))
                    .value()
                    .copy();
        }
    }

    int predict(Tensor features) {
        try (Tape tape = Tape.inference()) {
            Var scores =
                    model.scores(tape.constant(features), frozen(model.headParameters(), tape), Head.Mode.PREDICTING);
            return Logits.ofCrops(Engine.toRows(scores.value())).top();
        }
    }

    /** Computes the gradient of a class's score, averaged over crops, at feature maps. */
    Gradients at(Tensor features, int label) {
        HeadPath path = HeadPath.of(model.head());
        try (Tape forth = Tape.recording();
                Tape rest = Tape.recording()) {
            Var variable = forth.variable(features);
            Bindings parameters = frozen(model.headParameters(), forth);
            Var maps = path.maps(variable, parameters);
            Var aggregatedFeatures = path.aggregatedFeatures(maps, parameters);
            Tensor seen = maps.value().copy();
            Tensor met = aggregatedFeatures.value().copy();
            Var middle = rest.variable(met);
            Var scores = path.scores(middle, frozen(model.headParameters(), rest));
            float[][] rows = Engine.toRows(scores.value());
            try (var back = rest.backward(scores, upstream(scores.value(), label))) {
                Tensor upstream = back.of(middle).copy();
                try (var further = forth.backward(aggregatedFeatures, upstream)) {
                    return new Gradients(rows, further.of(variable).copy(), seen, met, upstream);
                }
            }
        }
    }

    private static Tensor upstream(Tensor scores, int label) {
        int crops = Math.toIntExact(scores.size(0));
        int classes = Math.toIntExact(scores.size(1));
        double[] rows = new double[crops * classes];
        for (int i = 0; i < crops; i++) {
            rows[i * classes + label] = 1.0 / crops;
        }
        return Tensors.of(rows, scores.shape(), scores.type()).to(scores.device());
    }

    private static Bindings frozen(ParameterSet parameters, Tape tape) {
        return Bindings.of(parameters.variables(tape, _ -> true));
    }

    /**
     * A head split at its middle: the kernel matrix {@code K [n, C, C]} of second-order poolings, else the aggregated maps {@code [n,
     * C, N]}.
     */
    record HeadPath(Head head) {
        static HeadPath of(Head head) {
            return new HeadPath(new Head(exact(head.pooling()), head.classes(), head.normalized()));
        }

        private Pooling pooling() {
            return head.pooling();
        }

        Var maps(Var features, Bindings parameters) {
            return pooling().reduce(features, parameters.under("pooling"));
        }

        Var aggregatedFeatures(Var maps, Bindings parameters) {
            return pooling().aggregation() instanceof SecondOrder secondOrder
                    ? secondOrder.matrices(maps, parameters.under("pooling"))
                    : maps;
        }

        /** Computes scores {@code [n, k]} from the middle. */
        Var scores(Var aggregatedFeatures, Bindings parameters) {
            Bindings own = parameters.under("pooling");
            Var x = pooling().aggregation() instanceof SecondOrder secondOrder
                    ? secondOrder.vectorize(secondOrder.transform(aggregatedFeatures, own), own)
                    : pooling().aggregate(aggregatedFeatures, own);
            for (int i = 0; i < pooling().normalizations().size(); i++) {
                x = pooling().normalize(i, x, own);
            }
            return head.classify(x, parameters, Head.Mode.PREDICTING);
        }

        /**
         * Returns the same pooling with its exact gradient. For training, {@code rbf} with {@code sigma=mean} ignores that the width
         * depends on the image, and poolings of the paper's fidelity use its printed formulas; values are the same.
         */
        private static Pooling exact(Pooling pooling) {
            return new Pooling(pooling.reductions(), exact(pooling.aggregation()), pooling.normalizations());
        }

        private static Aggregation exact(Aggregation aggregation) {
            return switch (aggregation) {
                case SecondOrder(Kernel kernel, var transforms, Vectorization vectorization) ->
                    new SecondOrder(
                            exact(kernel), transforms, vectorization instanceof Triu ? new Triu() : vectorization);
                case Join join ->
                    new Join(join.branches().stream().map(HeadPath::exact).toList());
                default -> aggregation;
            };
        }

        private static Kernel exact(Kernel kernel) {
            return switch (kernel) {
                case Rbf rbf ->
                    new Rbf(rbf.sigma() instanceof Sigma.Mean ? new Sigma.MeanFull() : rbf.sigma(), rbf.jitter());
                case KernelSum sum -> sum.with(HeadPath::exact);
                default -> kernel;
            };
        }
    }
}
