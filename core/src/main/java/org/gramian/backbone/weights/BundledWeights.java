package org.gramian.backbone.weights;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.gramian.backbone.Backbone;
import org.gramian.basis.Sha256;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;
import org.jspecify.annotations.Nullable;

/**
 * Weights that are part of this program: resources {@code gramian-s.safetensors} and {@code gramian-s.sha256} beside
 * {@link Backbone}, written by {@code scripts/backbone/make-gramian-s}.
 *
 * <p>A build without these resources works too, and then {@link #present} is false.
 */
public final class BundledWeights {
    /** Name of the weights and of their network. */
    public static final String NAME = "gramian-s";

    private static final String FILE = NAME + ".safetensors";
    private static final String CHECKSUM = NAME + ".sha256";

    private BundledWeights() {}

    public static boolean present() {
        return Backbone.class.getResource(FILE) != null;
    }

    public static long size() throws IOException {
        return content(FILE).length;
    }

    /** Reads the weights and compares them with their SHA-256. */
    static TensorFile read(Arena arena) throws IOException {
        String sha256 = new String(content(CHECKSUM), StandardCharsets.US_ASCII).strip();
        return read(content(FILE), sha256, arena);
    }

    static TensorFile read(byte[] content, String sha256, Arena arena) throws TensorFileException {
        Path name = Path.of(FILE);
        String found = Sha256.hex(Sha256.of(content));
        if (!found.equals(sha256)) {
            throw new TensorFileException(
                    name,
                    "this copy of Gramian is damaged: expected the SHA-256 %s, found %s; install Gramian again"
                            .formatted(sha256, found));
        }
        MemorySegment memory = arena.allocate(content.length, Long.BYTES).copyFrom(MemorySegment.ofArray(content));
        return Safetensors.read(name, memory);
    }

    private static byte[] content(String resource) throws IOException {
        try (@Nullable InputStream in = Backbone.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new TensorFileException(Path.of(resource), "is not part of this build of Gramian");
            }
            return in.readAllBytes();
        }
    }
}
