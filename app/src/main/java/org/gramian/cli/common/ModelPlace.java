package org.gramian.cli.common;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.export.ExportedFile;
import org.gramian.run.ExistingRun;

/** Finds the model that a command line means: a file, or the folder of a run that has one. */
public final class ModelPlace {
    private static final String MODEL = "model.safetensors";
    private static final int SHOWN = 5;

    private ModelPlace() {}

    /**
     * The file itself, or the model in a folder.
     *
     * @throws IOException if a folder has none, or several below it
     */
    public static Path of(Path typed) throws IOException {
        Path inside = typed.resolve(MODEL);
        if (!Files.isDirectory(typed) || Files.isRegularFile(inside)) {
            return Files.isDirectory(typed) ? inside : typed;
        }
        List<Path> below;
        try (Stream<Path> all = Files.list(typed)) {
            below = all.map(fold -> fold.resolve(MODEL))
                    .filter(Files::isRegularFile)
                    .sorted()
                    .toList();
        }
        throw new MissingModelException(typed + (below.isEmpty() ? none(typed) : several(below)));
    }

    private static String none(Path folder) {
        return ": expected a model or a run folder, found a folder without " + MODEL
                + (new ExistingRun(folder).exists()
                        ? "; the run is not finished; resume with: " + CommandHint.of("train", "--resume", folder)
                        : "");
    }

    private static String several(List<Path> models) {
        return ": expected one model, found " + models.size() + " below it; choose one of "
                + models.stream().limit(SHOWN).map(Path::toString).collect(Collectors.joining(", "))
                + (models.size() > SHOWN ? ", ..." : "");
    }

    /**
     * The same for what needs more than answers: gradients, or descriptors as training saw them.
     *
     * @throws IOException also if it is an ONNX file
     */
    static Path trained(Path typed) throws IOException {
        if (ExportedFile.isNamed(typed)) {
            throw new MissingModelException(typed
                    + ": expected a model of 'gramian train', found an ONNX file, which supports predictions only; "
                    + "use the " + MODEL + " that it was exported from");
        }
        return of(typed);
    }
}
