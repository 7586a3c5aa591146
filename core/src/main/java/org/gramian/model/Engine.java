package org.gramian.model;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.library.Libtorch;

/**
 * Computes scores and descriptors of crops: libtorch with a {@link Model}, or another runtime with the same network.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface Engine {
    /** Kinds of rows. */
    enum Rows {
        /** Scores before the softmax, one per class. */
        SCORES,
        /** Descriptors: the output of the pooling. */
        DESCRIPTORS,
        /** Distances from the classes; only of models whose card has an {@link OpenSet}. */
        DISTANCES
    }

    /**
     * Computes rows of crops, in their order, of every requested kind in one pass. Thread-safe.
     *
     * @param crops float32, row-major
     * @param shape {@code [n, 3, height, width]}
     * @param wanted at least one kind
     * @return {@code [n, classes]} scores, {@code [n, d]} descriptors, {@code [n, classes]} distances
     */
    Map<Rows, float[][]> compute(MemorySegment crops, Shape shape, Set<Rows> wanted);

    /** Computes rows of one kind. */
    default float[][] compute(MemorySegment crops, Shape shape, Rows wanted) {
        return rowsOf(compute(crops, shape, Set.of(wanted)), wanted);
    }

    /**
     * Returns how many batches to compute at once, each on one thread; 1 for one on all threads.
     */
    default int workers() {
        return 1;
    }

    /** Returns the rows of one requested kind. */
    static float[][] rowsOf(Map<Rows, float[][]> computed, Rows wanted) {
        return Objects.requireNonNull(computed.get(wanted), () -> wanted + " were not computed");
    }

    /** Copies a matrix {@code [n, length]} to float32 arrays, one per row. */
    static float[][] toRows(Tensor matrix) {
        Tensor host = matrix.to(DType.F32).to(Device.CPU).contiguous();
        int columns = Math.toIntExact(host.size(1));
        MemorySegment data = host.data();
        float[][] rows = new float[Math.toIntExact(host.size(0))][columns];
        for (int i = 0; i < rows.length; i++) {
            MemorySegment.copy(data, ValueLayout.JAVA_FLOAT, 4L * i * columns, rows[i], 0, columns);
        }
        return rows;
    }

    /** Returns libtorch with a model, on its device. The model may be trained between calls. The caller closes it. */
    static Engine of(Model model) {
        return new OfModel(model, new ParameterSet());
    }

    /**
     * Libtorch.
     *
     * @param model runs on its device
     * @param folded batch norms folded into their convolutions, see {@link Backbone#folded}; empty to fold them in each batch
     */
    record OfModel(Model model, ParameterSet folded) implements Engine {
        @Override
        public Map<Rows, float[][]> compute(MemorySegment crops, Shape shape, Set<Rows> wanted) {
            try (Scope _ = Scope.open();
                    Tape tape = Tape.inference()) {
                Tensor images = Tensors.viewOf(crops, DType.F32, shape).to(model.device());
                SequencedMap<String, Var> bound = model.backboneParameters().variables(tape);
                bound.putAll(folded.variables(tape));
                Var features = model.features(tape.constant(images), Bindings.of(bound));
                Bindings head = Bindings.of(model.headParameters().variables(tape));
                Var descriptors = model.describe(features, head);
                Map<Rows, float[][]> rows = new EnumMap<>(Rows.class);
                for (Rows each : wanted) {
                    rows.put(
                            each,
                            switch (each) {
                                case SCORES ->
                                    Engine.toRows(model.head()
                                            .classify(descriptors, head, Head.Mode.PREDICTING)
                                            .value());
                                case DESCRIPTORS -> Engine.toRows(descriptors.value());
                                case DISTANCES ->
                                    model.known().orElseThrow().distances(Engine.toRows(descriptors.value()));
                            });
                }
                return rows;
            }
        }

        @Override
        public int workers() {
            return model.device().kind() == Device.Kind.CPU ? Libtorch.load().threads() : 1;
        }
    }
}
