package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds the model that a command line means: a file, or the folder of a run that has one. */
final class ModelPlace {
    private static final String MODEL = "model.safetensors";
    private static final int SHOWN = 5;

    private ModelPlace() {}

    /**
     * The file itself, or the model in a folder.
     *
     * @throws IOException if a folder has none, or several below it
     */
    static Path of(Path typed) throws IOException {
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
        throw new MissingModelException(
                below.isEmpty()
                        ? typed + ": expected a model or the folder of a run, found a folder without "
                                + MODEL + "; a run that was broken goes on by: "
                                + CommandHint.of("train", "--resume", typed)
                        : typed + ": expected one model, found those of " + below.size() + " folds; name one: "
                                + below.stream()
                                        .limit(SHOWN)
                                        .map(Path::toString)
                                        .collect(Collectors.joining(", "))
                                + (below.size() > SHOWN ? ", ..." : ""));
    }
}
