package org.gramian.backbone.weights.format;

import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.List;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;

/**
 * The tensors of a weight file of any format, under the names and in the layout that the file gives them.
 *
 * @param content the tensors and, where the format has some, metadata
 * @param format what the file turned out to be
 * @param remarks what was left out or changed while reading, one sentence each
 */
public record WeightFile(TensorFile content, WeightFormat format, List<String> remarks) {
    public WeightFile {
        remarks = List.copyOf(remarks);
    }

    /**
     * Reads a file whose format is detected from its content; the tensors live as long as the arena.
     *
     * @throws TensorFileException if the file cannot be read, is of no known format, is damaged, or asks for more than
     *     tensors
     */
    public static WeightFile read(Path path, Arena arena) throws TensorFileException {
        try {
            return WeightFormat.of(path).read(path, arena);
        } catch (OutOfMemoryError e) {
            throw tooLarge(path, e);
        }
    }

    /** What is to be said of a file for which the memory does not suffice. */
    public static TensorFileException tooLarge(Path path, OutOfMemoryError cause) {
        return new TensorFileException(
                path,
                "needs more memory than the Java heap of %d MiB; retry with GRAMIAN_JAVA_OPTS=-Xmx… of twice as much"
                        .formatted(Runtime.getRuntime().maxMemory() >> 20),
                cause);
    }
}
