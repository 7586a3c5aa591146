package org.gramian.inspect;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.JsonText;

/**
 * Spectra of the matrices of a model's pooling on test images, and degenerate channels of its feature maps.
 *
 * @param model SHA-256 of the model's file, in hexadecimal digits
 * @param stages the matrices after the kernel and after each transform; empty for poolings without matrices
 */
public record SpdInspection(String model, String pooling, DegenerateChannels channels, List<MatrixStage> stages) {
    /** File name in the folder of a fold. */
    public static final String FILE = "spd.json";

    private static final String FORMAT = "gramian-spd";
    private static final int VERSION = 1;

    /** Several times what matrices of 2,048 rows take. */
    private static final long MAX_BYTES = 1L << 24;

    private record Document(String format, int version, SpdInspection inspection) {}

    public SpdInspection {
        stages = List.copyOf(stages);
    }

    /** Writes or replaces a JSON file atomically. */
    public void write(Path path) throws IOException {
        AtomicFile.putText(path, text -> text.write(JsonText.indented(new Document(FORMAT, VERSION, this)) + "\n"));
    }

    /** Reads a file. */
    public static SpdInspection read(Path path) throws IOException {
        return JsonText.read(path, Document.class, FORMAT, VERSION, MAX_BYTES).inspection;
    }
}
