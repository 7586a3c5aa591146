package org.gramian.backbone.weights.format;

import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.gramian.tensor.DType;

/** Value of a Python pickle in a PyTorch checkpoint: plain values, containers and references to tensors. */
sealed interface PickledValue {
    /** Python's {@code None}. */
    enum None implements PickledValue {
        NONE
    }

    /** Python's {@code bool}. */
    record Truth(boolean value) implements PickledValue {}

    /** Python's {@code int}, of any size. */
    record Whole(BigInteger value) implements PickledValue {}

    /** Python's {@code float}. */
    record Real(double value) implements PickledValue {}

    /** Python's {@code str}. */
    record Text(String value) implements PickledValue {}

    /** List, tuple or {@code torch.Size}. A malicious file can make it contain itself: never recurse into it. */
    record Row(List<PickledValue> items) implements PickledValue {}

    /** {@code dict} or {@code OrderedDict}; keys are never containers. It may contain itself, as a {@link Row}. */
    record Dictionary(SequencedMap<PickledValue, PickledValue> entries) implements PickledValue {
        Dictionary() {
            this(new LinkedHashMap<>());
        }
    }

    /** Allowed global of a pickle, a function or class, e.g. {@code torch._utils._rebuild_tensor_v2}. */
    record Function(String module, String name) implements PickledValue {
        String path() {
            return module + "." + name;
        }
    }

    /** PyTorch storage: the data of one or more tensors, stored elsewhere in the file under a key. */
    record Storage(DType type, String key, long elements) implements PickledValue {}

    /** Tensor: a view of a storage, with shape, strides and offset. */
    record View(Storage storage, TensorLayout layout) implements PickledValue {}
}
