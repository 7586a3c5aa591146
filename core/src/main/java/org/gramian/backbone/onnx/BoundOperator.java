package org.gramian.backbone.onnx;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.jspecify.annotations.Nullable;

/** Operator with known shapes of inputs and outputs, and the function on the tape that computes these. */
public record BoundOperator(NodeContext at, List<Operand> outputs, Function<Arguments, List<Var>> kernel) {
    public OnnxNode node() {
        return at.node();
    }

    /** Inputs of an operator on the tape. */
    record Arguments(Tape tape, Tensor like, List<@Nullable Var> values, NodeContext at) {
        private record Constant(HostTensor value, DType type, Device device) {}

        /** A network has few and small constants; a CUDA graph may refer to any, so they are kept. */
        private static final Map<Constant, Tensor> CONSTANTS = new ConcurrentHashMap<>();

        /** Returns an input; a constant gets the type and device of the data. */
        Var get(int i) {
            Var value = values.get(i);
            return value != null ? value : tape.constant(constant(i, like.type()));
        }

        Var like(int i, Var x) {
            return get(i).to(x.value().type());
        }

        Tensor constant(int i, DType type) {
            return constant(at.constant(i), type);
        }

        Tensor indexes(long[] indexes) {
            return constant(HostTensor.of(indexes), DType.I64);
        }

        private Tensor constant(HostTensor value, DType type) {
            return CONSTANTS.computeIfAbsent(new Constant(value, type, like.device()), key -> {
                try (Scope _ = Scope.open()) {
                    Tensor made = Tensors.of(key.value.values(), key.value.shape(), key.type)
                            .to(key.device);
                    Scope.detach(made);
                    return made;
                }
            });
        }
    }
}
