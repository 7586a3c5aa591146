package org.gramian.backbone.weights.format;

import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.gramian.tensor.DType;

/** What a pickle may hold: plain values, containers, and references to tensors. Nothing here can be run. */
sealed interface Pickled {
    /** Python's {@code None}. */
    enum None implements Pickled {
        NONE
    }

    /** A truth value. */
    record Truth(boolean value) implements Pickled {}

    /** A whole number of any size. */
    record Whole(BigInteger value) implements Pickled {}

    /** A floating-point number. */
    record Real(double value) implements Pickled {}

    /** Text. */
    record Text(String value) implements Pickled {}

    /** A list or a tuple; a hostile file can make it contain itself, so it is never walked through as a whole. */
    record Row(List<Pickled> items) implements Pickled {}

    /** A dictionary, ordered or not; its keys are never containers. The same holds. */
    record Dictionary(SequencedMap<Pickled, Pickled> entries) implements Pickled {
        Dictionary() {
            this(new LinkedHashMap<>());
        }
    }

    /** One of the few functions and types that a state dictionary needs. */
    record Function(String module, String name) implements Pickled {
        String path() {
            return module + "." + name;
        }
    }

    /** Memory that lies elsewhere in the file, under a key. */
    record Storage(DType type, String key, long elements) implements Pickled {}

    /** A tensor: a look at a storage. */
    record View(Storage storage, TensorLayout layout) implements Pickled {}
}
