package org.gramian.report.run.data;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.EvaluationFile;
import org.gramian.evaluate.EvaluationFolder;
import org.gramian.gallery.Gallery;
import org.gramian.inspect.SpdInspection;
import org.gramian.model.ModelFile;
import org.gramian.report.run.data.FoldData.ModelData;
import org.gramian.report.run.data.RunData.Missing;
import org.gramian.report.run.data.RunData.Missing.Part;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.loop.History;
import org.gramian.train.loop.PoolingSelection;
import org.gramian.train.loop.StageResult;

/** Reads a run folder or an evaluation file; missing or damaged files become {@link Missing} parts. */
public final class RunReader {
    private static final String MODEL = "model.safetensors";
    private static final String HISTORY = "history.csv";
    private static final String AFTER_FIRST = "stage1.json";
    private static final String CONFIG = "config.yaml";
    private static final String AUDIT = "audit.json";

    private static final String ALONE = "this report covers an evaluation file without its run folder";

    /** Far larger than any configuration. */
    private static final long MOST_CONFIG = 1L << 20;

    private final Path run;
    private final List<Missing> missing = new ArrayList<>();

    private RunReader(Path run) {
        this.run = run;
    }

    /**
     * Reads a run.
     *
     * @throws IOException if there is no evaluation, or one is damaged
     */
    public static RunData read(Path run) throws IOException {
        return new RunReader(run).data();
    }

    private RunData data() throws IOException {
        List<FoldData> folds = new ArrayList<>();
        for (Path folder : folders()) {
            Path file = Files.isDirectory(folder) ? folder.resolve(EvaluationFolder.FILE) : folder;
            if (Files.exists(file) || !Files.isDirectory(folder)) {
                folds.add(fold(folder));
            } else {
                lacks(Part.FOLD, folder.getFileName() + " has no evaluation: the fold is not finished");
            }
        }
        if (folds.isEmpty()) {
            EvaluationFolder.read(run); // throws with the reason
        }
        List<Thumbnails> galleries = folds.stream()
                .flatMap(fold -> fold.gallery().stream())
                .map(Thumbnails::of)
                .toList();
        return new RunData(
                String.valueOf(run.toAbsolutePath().normalize().getFileName()),
                folds,
                name -> galleries.stream()
                        .flatMap(gallery -> gallery.jpeg(name).stream())
                        .findFirst(),
                configuration(),
                audit(),
                missing);
    }

    /** Returns the fold folders by number; a run of one fold, or a file, is its own folder. */
    private List<Path> folders() throws IOException {
        if (!Files.isDirectory(run)) {
            return List.of(run);
        }
        try (Stream<Path> content = Files.list(run)) {
            List<Path> folds = content.filter(
                            path -> path.getFileName().toString().matches("fold-\\d+") && Files.isDirectory(path))
                    .sorted(Comparator.<Path>comparingInt(
                                    path -> path.toString().length())
                            .thenComparing(Path::toString))
                    .toList();
            return folds.isEmpty() ? List.of(run) : folds;
        }
    }

    private FoldData fold(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            for (Part part : List.of(Part.CURVES, Part.IMAGES, Part.MODEL, Part.SPD)) {
                lacks(part, ALONE);
            }
            return FoldData.of(EvaluationFile.read(folder), Optional.empty());
        }
        Path first = folder.resolve(AFTER_FIRST);
        Optional<Evaluation> afterFirst =
                Files.exists(first) ? Optional.of(EvaluationFile.read(first)) : Optional.empty();
        return new FoldData(
                EvaluationFile.read(folder.resolve(EvaluationFolder.FILE)),
                afterFirst,
                epochs(folder),
                stages(folder),
                gallery(folder),
                model(folder),
                part(Part.SPD, folder.resolve(SpdInspection.FILE), SpdInspection::read),
                poolings(folder));
    }

    private static List<PoolingSelection.Entry> poolings(Path folder) throws IOException {
        Path file = folder.resolve(PoolingSelection.FILE);
        return Files.exists(file) ? PoolingSelection.Result.read(file).entries() : List.of();
    }

    private List<EpochDone> epochs(Path folder) {
        return part(
                        Part.CURVES,
                        folder.resolve(HISTORY),
                        file -> History.open(file).epochs())
                .orElse(List.of());
    }

    /** Returns the results of the stages; none if the classifier was solved. */
    private List<StageResult> stages(Path folder) {
        try {
            return StageResult.read(folder);
        } catch (IOException damaged) {
            lacks(Part.CURVES, String.valueOf(damaged.getMessage()));
            return List.of();
        }
    }

    private Optional<ModelData> model(Path folder) {
        return part(
                Part.MODEL,
                folder.resolve(MODEL),
                file -> new ModelData(file, Files.size(file), ModelFile.header(file)));
    }

    private Optional<Gallery> gallery(Path folder) {
        return part(Part.IMAGES, folder.resolve(Gallery.FILE), file -> Gallery.beside(file.resolveSibling(MODEL)))
                .flatMap(found -> found);
    }

    private List<ConfigRow> configuration() {
        return part(Part.CONFIGURATION, run.resolve(CONFIG), file -> {
                    if (Files.size(file) > MOST_CONFIG) {
                        throw new IOException(
                                file + ": expected a configuration, found " + Files.size(file) + " bytes");
                    }
                    return ConfigRow.of(Files.readAllLines(file, StandardCharsets.UTF_8));
                })
                .orElse(List.of());
    }

    private Optional<AuditData> audit() {
        return part(Part.AUDIT, run.resolve(AUDIT), AuditData::read);
    }

    /** Reader of a file. */
    private interface Reading<T> {
        T read(Path file) throws IOException;
    }

    private <T> Optional<T> part(Part part, Path file, Reading<T> reading) {
        if (!Files.isDirectory(run)) {
            lacks(part, ALONE);
            return Optional.empty();
        }
        if (!Files.isRegularFile(file)) {
            lacks(
                    part,
                    holder(file) + " has no " + file.getFileName()
                            + (part == Part.CURVES ? "; a classifier solved in closed form has no epochs" : ""));
            return Optional.empty();
        }
        try {
            return Optional.of(reading.read(file));
        } catch (IOException | RuntimeException damaged) {
            lacks(part, String.valueOf(damaged.getMessage()));
            return Optional.empty();
        }
    }

    private String holder(Path file) {
        Path folder = file.toAbsolutePath().normalize().getParent();
        boolean own = folder != null && folder.equals(run.toAbsolutePath().normalize());
        return own || folder == null ? "the run folder" : String.valueOf(folder.getFileName());
    }

    private void lacks(Part part, String reason) {
        missing.add(new Missing(part, reason));
    }
}
