package org.gramian.backbone.onnx;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BinaryOperator;
import java.util.function.UnaryOperator;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.jspecify.annotations.Nullable;

/**
 * Operator with known shapes: its results and its function on the tape.
 *
 * @param outputs what is known of the results
 * @param kernel computes them
 */
record Planned(List<Operand> outputs, Kernel kernel) {
    /** Function on the tape. */
    @FunctionalInterface
    interface Kernel {
        List<Var> run(Arguments in);
    }

    static Planned of(Operand output, UnaryOperator<Var> function) {
        return new Planned(List.of(output), in -> List.of(function.apply(in.get(0))));
    }

    /** Returns a function of two inputs; the second is converted to the type of the first. */
    static Planned of(Operand output, BinaryOperator<Var> function) {
        return new Planned(List.of(output), in -> List.of(function.apply(in.get(0), in.like(1, in.get(0)))));
    }

    /**
     * Place of an operator in a plan.
     *
     * @param node the operator
     * @param inputs what is known of its inputs; {@link Operand#ABSENT} for absent ones
     * @param opset version of the operators
     * @param batch number of images in the shapes
     * @param images factor of the batch dimension: the number of images if shapes are those of one image, else 1
     */
    record Site(OnnxNode node, List<Operand> inputs, int opset, long batch, long images) {
        Operand in(int i) {
            if (i >= inputs.size()) {
                throw node.error("expected at least " + (i + 1) + " inputs, found " + inputs.size());
            }
            return inputs.get(i);
        }

        /** Returns an input of a rank. */
        Operand in(int i, int rank) {
            if (in(i).rank() != rank) {
                throw node.error("expected " + rank + " dimensions of input " + i + ", found " + in(i).shape());
            }
            return in(i);
        }

        /** Returns the sizes of a result for all images. */
        long[] sizes(Operand result) {
            long[] sizes = result.shape().sizes();
            if (result.data() && images > 1) {
                sizes[result.batch()] *= images;
            }
            return sizes;
        }

        /** Returns an error if a dimension holds images of a file for one image, so that it cannot be taken apart. */
        void requireNoImages(Operand x, int dimension) {
            if (images > 1 && dimension == x.batch()) {
                throw node.error("expected another dimension than the images of " + x.shape() + ", found " + dimension
                        + "; export with a dynamic batch size: dynamic_axes={'images': {0: 'n'}}");
            }
        }

        long[] list(int input, String attribute) {
            return ShapeRules.list(node, inputs, input, attribute);
        }

        /** Returns a floating-point input or attribute of one element, or the default. */
        double number(int input, String attribute, double otherwise) {
            if (!node.has(input)) {
                return node.number(attribute, otherwise);
            }
            HostTensor value = ShapeRules.constant(node, inputs, input);
            if (value.values().length != 1) {
                throw node.error("expected one number as input " + input + ", found " + value);
            }
            return value.values()[0];
        }
    }

    /** Inputs of an operator on the tape. */
    record Arguments(Tape tape, Tensor like, List<@Nullable Var> values, List<Operand> operands) {
        /** Returns an input; a constant gets the type and device of the data. */
        Var get(int i) {
            Var value = values.get(i);
            return value != null ? value : tape.constant(Constants.on(operands.get(i), like.type(), like.device()));
        }

        /** Returns an input in the type of another. */
        Var like(int i, Var x) {
            return get(i).to(x.value().type());
        }

        /** Returns a constant input in a type. */
        Tensor constant(int i, DType type) {
            return Constants.on(operands.get(i), type, like.device());
        }

        /** Returns constant indexes. */
        Tensor places(long[] places) {
            return Constants.on(Operand.of(HostTensor.ofLongs(places)), DType.I64, like.device());
        }
    }

    /** Constants on devices. A network has few and small ones; a CUDA graph may refer to any, so they are kept. */
    private static final class Constants {
        private record Key(HostTensor value, DType type, Device device) {}

        private static final Map<Key, Tensor> ALL = new ConcurrentHashMap<>();

        static Tensor on(Operand operand, DType type, Device device) {
            HostTensor value = operand.constant();
            if (value == null) {
                throw new IllegalStateException("expected a constant, found " + operand);
            }
            return ALL.computeIfAbsent(new Key(value, type, device), Constants::make);
        }

        private static Tensor make(Key key) {
            try (Scope _ = Scope.open()) {
                Shape shape = key.value.shape();
                Tensor made = Tensors.of(key.value.values(), shape, key.type).to(key.device);
                Scope.detach(made);
                return made;
            }
        }
    }
}
