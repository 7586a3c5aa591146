package org.gramian.evaluate;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.gramian.basis.NameList;

/**
 * The evaluations of a run where it left them: {@code evaluation.json} in its folder; of several folds, {@code
 * fold-1/evaluation.json}, {@code fold-2/evaluation.json} and so on.
 */
public final class EvaluationFolder {
    /** An evaluation's name within the folder of its fold. */
    public static final String FILE = "evaluation.json";

    private static final String FOLD = "fold-";
    private static final String FOLDS = FOLD + "*";

    private EvaluationFolder() {}

    /** The name of a fold's folder within its run's, as {@code fold-1}. */
    public static String fold(int number) {
        return FOLD + number;
    }

    /**
     * Reads all folds of a run, in the order of their numbers; or the one evaluation of a file.
     *
     * @throws EvaluationFileException if there is none, a fold has none yet, or one cannot be read
     */
    public static List<Evaluation> read(Path fileOrRun) throws IOException {
        if (!Files.isDirectory(fileOrRun)) {
            return List.of(EvaluationFile.read(fileOrRun));
        }
        List<Evaluation> folds = new ArrayList<>();
        for (Path fold : folds(fileOrRun)) {
            Path file = fold.resolve(FILE);
            if (!Files.exists(file)) {
                throw new EvaluationFileException(
                        file, "expected an evaluation, found none: this fold of the run is not finished");
            }
            folds.add(EvaluationFile.read(file));
        }
        if (folds.isEmpty() && Files.exists(fileOrRun.resolve(FILE))) {
            folds.add(EvaluationFile.read(fileOrRun.resolve(FILE)));
        }
        if (folds.isEmpty()) {
            throw missing(fileOrRun);
        }
        return folds;
    }

    private static EvaluationFileException missing(Path folder) throws IOException {
        List<String> runs = new ArrayList<>();
        try (DirectoryStream<Path> below = Files.newDirectoryStream(folder, path -> Files.exists(path.resolve(FILE)))) {
            below.forEach(run -> runs.add(run.toString()));
        }
        return new EvaluationFileException(
                folder,
                runs.isEmpty()
                        ? "expected a file with an evaluation, or a run with %s or %s/%s, found none"
                                .formatted(FILE, FOLDS, FILE)
                        : "expected a run, found a folder of runs; choose from: "
                                + NameList.some(runs.stream().sorted().toList()));
    }

    /** By length first, so that 10 comes after 9. */
    private static List<Path> folds(Path run) throws IOException {
        List<Path> folds = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(run, FOLDS)) {
            for (Path path : found) {
                if (Files.isDirectory(path)) {
                    folds.add(path);
                }
            }
        }
        folds.sort(
                Comparator.<Path>comparingInt(path -> path.toString().length()).thenComparing(Path::toString));
        return folds;
    }
}
