package org.gramian.backbone.weights;

import java.lang.foreign.Arena;
import java.util.List;
import org.gramian.backbone.weights.format.TensorLayout;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.StoredTensor;

/** How a tensor of a published file is laid out, compared with ours: {@code [out, in, height, width]}, {@code [out, in]}. */
sealed interface Rearrangement {
    /** The shape in the file of a parameter whose shape here is given. */
    Shape stored(Shape wanted);

    /** Where the elements lie in the file, in our order; its sizes may split a dimension of ours. */
    TensorLayout layout(Shape wanted);

    /** Whether a tensor of that shape can be taken for the parameter. */
    default boolean accepts(Shape found, Shape wanted) {
        return found.equals(stored(wanted));
    }

    /** The tensor in our layout: the same memory where that is possible, else a copy in the arena. */
    default StoredTensor apply(StoredTensor found, Shape wanted, Arena arena) {
        StoredTensor taken = layout(wanted).take(found.type(), found.data(), arena);
        return new StoredTensor(found.type(), wanted, taken.data());
    }

    /** As it is. */
    record None() implements Rearrangement {
        @Override
        public Shape stored(Shape wanted) {
            return wanted;
        }

        @Override
        public TensorLayout layout(Shape wanted) {
            return new TensorLayout(0, List.of(wanted.elements()), List.of(1L));
        }
    }

    /** As it is, but for dimensions of one at the front: Caffe once wrote everything with four dimensions. */
    record LeadingOnes() implements Rearrangement {
        @Override
        public Shape stored(Shape wanted) {
            return wanted;
        }

        @Override
        public boolean accepts(Shape found, Shape wanted) {
            int more = found.rank() - wanted.rank();
            for (int i = 0; i < found.rank(); i++) {
                if (more < 0 || found.at(i) != (i < more ? 1 : wanted.at(i - more))) {
                    return false;
                }
            }
            return found.rank() >= wanted.rank();
        }

        @Override
        public TensorLayout layout(Shape wanted) {
            return new None().layout(wanted);
        }
    }

    /** A convolution's kernel as TensorFlow keeps it: {@code [height, width, in, out]}. */
    record Kernel() implements Rearrangement {
        @Override
        public Shape stored(Shape wanted) {
            return Shape.of(wanted.at(2), wanted.at(3), wanted.at(1), wanted.at(0));
        }

        @Override
        public TensorLayout layout(Shape wanted) {
            long out = wanted.at(0);
            long in = wanted.at(1);
            long height = wanted.at(2);
            long width = wanted.at(3);
            return new TensorLayout(0, List.of(out, in, height, width), List.of(1L, out, width * in * out, in * out));
        }
    }

    /** A dense layer's matrix as TensorFlow keeps it: {@code [in, out]}. */
    record Dense() implements Rearrangement {
        @Override
        public Shape stored(Shape wanted) {
            return Shape.of(wanted.at(1), wanted.at(0));
        }

        @Override
        public TensorLayout layout(Shape wanted) {
            return new TensorLayout(0, List.of(wanted.at(0), wanted.at(1)), List.of(1L, wanted.at(0)));
        }
    }

    /**
     * The first dense layer's matrix as TensorFlow keeps it: {@code [height·width·channels, out]}, for maps were flattened
     * with the channels last; ours are flattened with the channels first.
     *
     * @param side height and width of the maps
     */
    record Flattened(int side) implements Rearrangement {
        @Override
        public Shape stored(Shape wanted) {
            return Shape.of(wanted.at(1), wanted.at(0));
        }

        @Override
        public boolean accepts(Shape found, Shape wanted) {
            return wanted.at(1) % ((long) side * side) == 0 && found.equals(stored(wanted));
        }

        @Override
        public TensorLayout layout(Shape wanted) {
            long out = wanted.at(0);
            long channels = wanted.at(1) / ((long) side * side);
            return new TensorLayout(
                    0,
                    List.of(out, channels, (long) side, (long) side),
                    List.of(1L, out, side * channels * out, channels * out));
        }
    }
}
