package org.gramian.backbone.weights;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.PublicFile;
import org.gramian.basis.Sha256;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;
import org.jspecify.annotations.Nullable;

/**
 * Weights on the class path: {@code gramian-s}, part of this program, beside {@link Backbone}, written by {@code
 * scripts/backbone/make-gramian-s}; and those of artifacts {@code gramian-weights-NAME} in {@value #FOLDER}. Each is a file {@code
 * NAME.safetensors} of a {@link WeightStore} with its SHA-256 in {@code NAME.sha256}.
 *
 * <p>A build without these resources works too.
 */
public final class BundledWeights {
    /** Name of the weights that are part of this program, and of their network. */
    public static final String NAME = "gramian-s";

    static final String FOLDER = "META-INF/gramian/weights/";
    private static final String CHECKSUM = ".sha256";

    private BundledWeights() {}

    /** Returns the names of networks and public files whose weights are on the class path. */
    static List<String> names() {
        return Stream.concat(
                        WeightName.architectures().stream(),
                        PublicFile.all().stream().map(PublicFile::name))
                .distinct()
                .filter(BundledWeights::has)
                .toList();
    }

    /** Returns whether weights are on the class path. */
    public static boolean has(String name) {
        return resource(name + WeightStore.ENDING) != null;
    }

    /** Returns the size of the file in bytes. */
    public static long size(String name) throws IOException {
        URLConnection connection = existing(name + WeightStore.ENDING).openConnection();
        try (InputStream _ = connection.getInputStream()) {
            return connection.getContentLengthLong();
        }
    }

    /** Reads weights and compares them with their SHA-256. */
    static TensorFile read(String name, Arena arena) throws IOException {
        String sha256 = new String(content(name + CHECKSUM), StandardCharsets.US_ASCII).strip();
        return read(Path.of(name + WeightStore.ENDING), content(name + WeightStore.ENDING), sha256, arena);
    }

    static TensorFile read(Path name, byte[] content, String sha256, Arena arena) throws TensorFileException {
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

    private static byte[] content(String file) throws IOException {
        try (InputStream in = existing(file).openStream()) {
            return in.readAllBytes();
        }
    }

    private static URL existing(String file) throws IOException {
        URL resource = resource(file);
        if (resource == null) {
            throw new TensorFileException(Path.of(file), "is not part of this build of Gramian");
        }
        return resource;
    }

    private static @Nullable URL resource(String file) {
        URL found = Backbone.class.getResource(file);
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        if (found == null && context != null) {
            found = context.getResource(FOLDER + file);
        }
        // threads of a pool may have another class loader
        return found == null ? Backbone.class.getClassLoader().getResource(FOLDER + file) : found;
    }
}
