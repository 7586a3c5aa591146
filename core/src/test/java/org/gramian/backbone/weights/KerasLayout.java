package org.gramian.backbone.weights;

import java.lang.foreign.ValueLayout;
import org.gramian.backbone.weights.format.Tensors32;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.StoredTensor;

/** Our tensors as TensorFlow lays them out, element by element, as their definitions say. */
final class KerasLayout {
    private KerasLayout() {}

    private static float at(StoredTensor tensor, long index) {
        return tensor.data().getAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, index);
    }

    /** {@code [out, in, height, width]} to {@code [height, width, in, out]}. */
    static StoredTensor kernel(StoredTensor ours) {
        int out = size(ours, 0);
        int in = size(ours, 1);
        int height = size(ours, 2);
        int width = size(ours, 3);
        float[] theirs = new float[out * in * height * width];
        for (int o = 0; o < out; o++) {
            for (int i = 0; i < in; i++) {
                for (int y = 0; y < height; y++) {
                    for (int x = 0; x < width; x++) {
                        theirs[((y * width + x) * in + i) * out + o] =
                                at(ours, ((o * in + i) * height + y) * width + x);
                    }
                }
            }
        }
        return Tensors32.of(Shape.of(height, width, in, out), theirs);
    }

    /** {@code [out, channels·height·width]} to {@code [height·width·channels, out]}; a side of 1 for plain matrices. */
    static StoredTensor dense(StoredTensor ours, int side) {
        int out = size(ours, 0);
        int in = size(ours, 1);
        int positions = side * side;
        int channels = in / positions;
        float[] theirs = new float[out * in];
        for (int o = 0; o < out; o++) {
            for (int c = 0; c < channels; c++) {
                for (int p = 0; p < positions; p++) {
                    theirs[(p * channels + c) * out + o] = at(ours, (o * channels + c) * positions + p);
                }
            }
        }
        return Tensors32.of(Shape.of(in, out), theirs);
    }

    private static int size(StoredTensor tensor, int dimension) {
        return Math.toIntExact(tensor.shape().at(dimension));
    }
}
