package org.gramian.export.graph;

import java.util.ArrayList;
import java.util.List;

/**
 * What flows through a graph: a name and the sizes of its axes.
 *
 * @param name of the input, the constant or the node's result
 * @param sizes the first is {@link #BATCH} for what there is one of for each image
 */
record Value(String name, List<Long> sizes) {
    /** The open size: the number of images. */
    static final long BATCH = -1;

    /** In place of an optional input that is left out. */
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

    /** The sizes with that of one axis changed. */
    List<Long> with(int axis, long size) {
        List<Long> changed = new ArrayList<>(sizes);
        changed.set(axis < 0 ? changed.size() + axis : axis, size);
        return changed;
    }

    /** Numbers for each image. */
    long each() {
        return sizes.stream().skip(1).reduce(1L, Math::multiplyExact);
    }
}
