package org.gramian.export.graph;

import java.util.ArrayList;
import java.util.List;

/**
 * A value of a graph.
 *
 * @param name of the input, constant or output of a node
 * @param sizes of its axes; {@link #BATCH} first if it depends on the image
 */
record Value(String name, List<Long> sizes) {
    /** The dynamic size: the number of images. */
    static final long BATCH = -1;

    /** An omitted optional input. */
    static final Value ABSENT = new Value("", List.of());

    Value {
        sizes = List.copyOf(sizes);
    }

    long at(int axis) {
        return sizes.get(axis < 0 ? sizes.size() + axis : axis);
    }

    int rank() {
        return sizes.size();
    }

    /** Returns the sizes with one axis changed. */
    List<Long> with(int axis, long size) {
        List<Long> changed = new ArrayList<>(sizes);
        changed.set(axis < 0 ? changed.size() + axis : axis, size);
        return changed;
    }

    /** Returns the number of elements per image. */
    long each() {
        return sizes.stream().skip(1).reduce(1L, Math::multiplyExact);
    }
}
