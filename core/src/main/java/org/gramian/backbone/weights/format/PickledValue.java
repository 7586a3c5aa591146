package org.gramian.backbone.weights.format;

import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.gramian.tensor.DType;

/** Value in a pickle: plain values, containers and references to tensors. */
sealed interface PickledValue {
    /** Python's {@code None}. */
    enum None implements PickledValue {
        NONE
    }

    /** Boolean. */
    record Truth(boolean value) implements PickledValue {}

    /** Integer of any size. */
    record Whole(BigInteger value) implements PickledValue {}

    /** Floating-point number. */
    record Real(double value) implements PickledValue {}

    /** Text. */
    record Text(String value) implements PickledValue {}

    /** List or tuple; a malicious file can make it contain itself, so it is never traversed recursively. */
    record Row(List<PickledValue> items) implements PickledValue {}

    /** Dictionary, ordered or not; keys are never containers. May contain itself, too. */
    record Dictionary(SequencedMap<PickledValue, PickledValue> entries) implements PickledValue {
        Dictionary() {
            this(new LinkedHashMap<>());
        }
    }

    /** Function or type of a state dictionary. */
    record Function(String module, String name) implements PickledValue {
        String path() {
            return module + "." + name;
        }
    }

    /** Storage elsewhere in the file, under a key. */
    record Storage(DType type, String key, long elements) implements PickledValue {}

    /** Tensor: a view of a storage. */
    record View(Storage storage, TensorLayout layout) implements PickledValue {}
}
