package org.gramian.model;

import java.lang.foreign.MemorySegment;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/** What computes rows of crops: libtorch by a {@link Model}, or another runtime that was given the same network. */
@FunctionalInterface
public interface Engine {
    /** Which rows are wanted. */
    enum Rows {
        /** Scores before the softmax, one per class. */
        SCORES,
        /** Descriptors, what the pooling ends with. */
        DESCRIPTORS
    }

    /**
     * Rows of crops, in their order. Any number of threads may ask at once.
     *
     * @param crops single precision, rows of pixels after each other
     * @param shape {@code [n, 3, height, width]}
     */
    float[][] compute(MemorySegment crops, Shape shape, Rows wanted);

    /** Libtorch, on the device of the model, which stays the caller's to close. */
    static Engine of(Model model) {
        return (crops, shape, wanted) -> {
            try (Scope _ = Scope.open();
                    Tape tape = Tape.inference()) {
                Tensor pictures = Tensors.to(Tensors.viewOf(crops, DType.F32, shape), model.device());
                Var features = model.backbone()
                        .apply(
                                tape.constant(pictures),
                                Bindings.of(model.backboneParameters().variables(tape)));
                Bindings head = Bindings.of(model.headParameters().variables(tape));
                Var rows = switch (wanted) {
                    case SCORES -> model.head().apply(features, head, Head.Mode.PREDICTING);
                    case DESCRIPTORS -> model.head().describe(features, head);
                };
                return Scoring.toRows(rows.value());
            }
        };
    }
}
