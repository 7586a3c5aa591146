package org.gramian.cli.common;

import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Parameters;

/** The first parameter of commands that look into a model: what {@code gramian train} wrote. */
public final class TrainedModel {
    @Parameters(index = "0", paramLabel = "MODEL", description = "model file or run folder of 'gramian train'")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private Path typed;

    /**
     * Its file.
     *
     * @throws IOException if a folder has none, or several below it
     */
    public Path file() throws IOException {
        return ModelPlace.of(typed);
    }

    /**
     * The same for what needs more than answers: gradients, or descriptors as training saw them.
     *
     * @throws IOException also if it is an ONNX file
     */
    public Path notExported() throws IOException {
        return ModelPlace.trained(typed);
    }
}
