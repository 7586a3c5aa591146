package org.gramian.evaluate;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.gramian.basis.NameList;

/** Evaluations of a run: {@code evaluation.json} in its folder, or {@code fold-1/evaluation.json} and so on. */
public final class EvaluationFolder {
    /** File name of an evaluation. */
    public static final String FILE = "evaluation.json";

    private static final String FOLD = "fold-";
    private static final String FOLDS = FOLD + "*";

    private EvaluationFolder() {}

    /** Returns the folder name of a fold, e.g. {@code fold-1}. */
    public static String fold(int number) {
        return FOLD + number;
    }

    /**
     * Reads all folds of a run in order, or one evaluation file.
     *
     * @throws EvaluationFileException if there is none, a fold is not finished, or a file cannot be read
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

    /** Returns the folders of the folds, 10 after 9. */
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
