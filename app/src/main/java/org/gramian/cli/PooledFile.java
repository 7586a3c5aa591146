package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.gramian.basis.AtomicFile;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.file.Npy;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.jspecify.annotations.Nullable;

/** The file that {@code gramian pool} writes: {@code .safetensors}, or {@code .npy} for descriptors alone. */
record PooledFile(Path path, boolean withGradients) {
    PooledFile {
        boolean npy = path.toString().endsWith(".npy");
        if (!npy && !path.toString().endsWith(".safetensors")) {
            throw new IllegalArgumentException("OUT must end with .safetensors or .npy, found " + path);
        }
        if (npy && withGradients) {
            throw new IllegalArgumentException(
                    "gradients (--upstream) need an OUT that ends with .safetensors, found " + path);
        }
    }

    /** Says before the work, not after it, that the result could not be written. */
    void requireWritable() throws IOException {
        AtomicFile.require(path);
    }

    /** Rejects an output that would replace an input. */
    void requireNoneOf(@Nullable Path... inputs) throws IOException {
        for (Path input : inputs) {
            if (input != null && Files.exists(path) && Files.exists(input) && Files.isSameFile(path, input)) {
                throw new IllegalArgumentException("OUT would overwrite the input " + input);
            }
        }
    }

    void write(Map<String, Tensor> results, Pooling pooling) throws IOException {
        Map<String, StoredTensor> stored = new LinkedHashMap<>();
        results.forEach((name, tensor) -> stored.put(name, StoredTensor.of(tensor)));
        if (path.toString().endsWith(".npy")) {
            Npy.write(path, Objects.requireNonNull(stored.get("descriptors")));
        } else {
            Safetensors.write(path, stored, Map.of("pooling", pooling.text(), "gramian", Version.number()));
        }
    }
}
