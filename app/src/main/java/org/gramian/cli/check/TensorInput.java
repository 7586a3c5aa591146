package org.gramian.cli.check;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.gramian.tensor.DType;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.file.Npy;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;

/** One tensor from a {@code .npy} file, or from a {@code .safetensors} file under a key; the content decides. */
final class TensorInput {
    private static final byte[] NPY_MAGIC = "\u0093NUMPY".getBytes(StandardCharsets.ISO_8859_1);

    private TensorInput() {}

    /** Reads finite numbers and converts them to a type. */
    static Tensor read(Path path, String key, DType type, Arena arena) throws IOException {
        StoredTensor stored = isNpy(path)
                ? Npy.read(path, arena)
                : Safetensors.read(path, arena).get(key);
        Tensor tensor = stored.toTensor().to(type);
        requireFinite(path, key, tensor);
        return tensor;
    }

    private static boolean isNpy(Path path) throws IOException {
        if (!Files.isRegularFile(path)) {
            return path.toString().endsWith(".npy"); // the reader reports the error
        }
        try (InputStream in = Files.newInputStream(path)) {
            return Arrays.equals(in.readNBytes(NPY_MAGIC.length), NPY_MAGIC)
                    || path.toString().endsWith(".npy");
        }
    }

    /** Rejects NaN and infinity, naming the first. */
    static void requireFinite(Path path, String key, Tensor tensor) {
        if (tensor.allFinite()) {
            return;
        }
        float[] values = tensor.toFloats();
        int first = 0;
        long bad = 0;
        for (int i = values.length - 1; i >= 0; i--) {
            if (!Float.isFinite(values[i])) {
                first = i;
                bad++;
            }
        }
        throw new IllegalArgumentException(path + ": " + key + " must be finite numbers, found " + bad + " of "
                + values.length + " that are not, the first is " + values[first] + " at "
                + Arrays.toString(place(first, tensor)) + " of " + tensor.shape());
    }

    private static long[] place(long index, Tensor tensor) {
        long[] place = tensor.shape().sizes();
        long rest = index;
        for (int i = place.length - 1; i >= 0; i--) {
            long size = place[i];
            place[i] = rest % size;
            rest /= size;
        }
        return place;
    }
}
