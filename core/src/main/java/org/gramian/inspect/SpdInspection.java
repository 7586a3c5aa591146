package org.gramian.inspect;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * What became of the matrices of a model's pooling on some test images, and of the feature maps that they are made of.
 *
 * @param model SHA-256 of the model's file, in hexadecimal digits
 * @param pooling text of the pooling
 * @param channels the feature maps that the pooling compares
 * @param stages the matrices after the kernel and after each transform; none where the pooling has no matrices
 */
public record SpdInspection(String model, String pooling, MapChannels channels, List<MatrixStage> stages) {
    /** Its name in the folder of a fold. */
    public static final String FILE = "spd.json";

    public SpdInspection {
        stages = List.copyOf(stages);
    }

    /**
     * Reads a file.
     *
     * @throws IOException if it is none that {@link #write} wrote; the message says what was expected and found
     */
    public static SpdInspection read(Path path) throws IOException {
        return InspectionFile.read(path);
    }

    /** Writes or replaces a file, whole or not at all. */
    public void write(Path path) throws IOException {
        InspectionFile.write(path, this);
    }
}
