package org.gramian.backbone.weights.format;

import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.gramian.tensor.DType;

/** What a pickle may hold: plain values, containers, and references to tensors. Nothing here can be run. */
sealed interface PickledValue {
    /** Python's {@code None}. */
    enum None implements PickledValue {
        NONE
    }

    /** A truth value. */
    record Truth(boolean value) implements PickledValue {}

    /** A whole number of any size. */
    record Whole(BigInteger value) implements PickledValue {}

    /** A floating-point number. */
    record Real(double value) implements PickledValue {}

    /** Text. */
    record Text(String value) implements PickledValue {}

    /** A list or a tuple; a hostile file can make it contain itself, so it is never walked through as a whole. */
    record Row(List<PickledValue> items) implements PickledValue {}

    /** A dictionary, ordered or not; its keys are never containers. The same holds. */
    record Dictionary(SequencedMap<PickledValue, PickledValue> entries) implements PickledValue {
        Dictionary() {
            this(new LinkedHashMap<>());
        }
    }

    /** One of the few functions and types that a state dictionary needs. */
    record Function(String module, String name) implements PickledValue {
        String path() {
            return module + "." + name;
        }
    }

    /** Memory that lies elsewhere in the file, under a key. */
    record Storage(DType type, String key, long elements) implements PickledValue {}

    /** A tensor: a look at a storage. */
    record View(Storage storage, TensorLayout layout) implements PickledValue {}
}
