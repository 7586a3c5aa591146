package org.gramian.cli.train;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.RegularFile;
import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.Failures;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.run.ExistingRun;
import org.gramian.run.Extension;
import org.gramian.run.RunPlan;
import org.gramian.run.RunResult;
import org.gramian.run.TrainingRun;

/** The folder of a run: its configuration and the path of its images. */
public record RunFolder(Path path) {
    private static final String IMAGES = "images.txt";

    /** Copy of the list of labels that replace those of the images. */
    private static final String LABELS = "labels.csv";

    private static final Set<String> BEFORE_CONFIGURATION =
            Set.of(IMAGES, LABELS, Extension.IMAGES, ExistingRun.EXTENDED);

    /** Before the path of the images as it was typed. */
    private static final String TYPED = "typed: ";

    static RunFolder of(Path path) throws IOException {
        if (!new ExistingRun(path).exists()) {
            throw new IOException(path + ": expected a run folder with a file " + ExistingRun.CONFIG
                    + ", found none; start a run with: " + CommandHint.of("train", "DIR", "--out", path));
        }
        return new RunFolder(path);
    }

    /** Returns the default folder {@code runs/<date>-<name of the images>}, with a number appended if it exists. */
    static RunFolder defaultFor(Path images) {
        String name = String.valueOf(images.toAbsolutePath().normalize().getFileName())
                .replaceFirst("\\.csv$", "")
                .replaceAll("[^\\p{L}\\p{N}._-]", "-");
        Path first = Path.of("runs", LocalDate.now(ZoneId.systemDefault()) + "-" + name);
        return new RunFolder(Stream.iterate(1, number -> number + 1)
                .map(number -> number == 1 ? first : first.resolveSibling(first.getFileName() + "-" + number))
                .filter(path -> !Files.exists(path))
                .findFirst()
                .orElseThrow());
    }

    /** Returns a folder for a new run; rejects one with files, but for those of a run that was killed before it began. */
    static RunFolder fresh(Path path) throws IOException {
        RunFolder folder = new RunFolder(path);
        if (!Files.exists(path)) {
            if (Files.isSymbolicLink(path)) {
                throw new IllegalArgumentException("--out " + path + ": expected a folder, found a link to nothing");
            }
            return folder;
        }
        if (!Files.isDirectory(path)) {
            throw new IllegalArgumentException("--out " + path + ": expected a folder, found a file");
        }
        if (folder.run().isFinished()) {
            throw new IllegalArgumentException(
                    "--out " + path + ": found a finished run in this folder; choose another one, or delete it first");
        }
        List<Path> content;
        try (Stream<Path> all = Files.list(path)) {
            content = all.toList();
        }
        if (!folder.isLeftBehind(content)) {
            throw new IllegalArgumentException("--out " + path
                    + ": expected a new or empty folder, found files in it; choose another one"
                    + (folder.run().exists()
                            ? ", or resume the run with: " + CommandHint.of("train", "--resume", path)
                            : ""));
        }
        for (Path file : content) {
            Files.delete(file); // labels of the killed run would be used
        }
        return folder;
    }

    /** Returns whether a killed run wrote all files of the folder, and no configuration yet. */
    private boolean isLeftBehind(List<Path> content) throws IOException {
        if (content.isEmpty()) {
            return true;
        }
        return (run().isExtended() || typedImages().isPresent())
                && content.stream()
                        .map(file -> file.getFileName().toString())
                        .allMatch(name -> BEFORE_CONFIGURATION.contains(name) || AtomicFile.isPartial(name));
    }

    /** Stores the path of the images of a new run, absolute and as typed. */
    void begin(Path images, List<String> options) throws IOException {
        Files.createDirectories(path);
        AtomicFile.putText(path.resolve(IMAGES), text -> {
            text.write(images.toAbsolutePath().normalize() + "\n" + TYPED + images + "\n");
            for (String option : options) {
                text.write(option + "\n");
            }
        });
    }

    void keepLabels(Path labels) throws IOException {
        byte[] content = RegularFile.bytes(labels);
        AtomicFile.put(path.resolve(LABELS), partial -> Files.write(partial, content));
    }

    /** Opens the images of the run, with the labels that it was trained on. */
    Dataset dataset(Optional<String> layout) throws IOException {
        return dataset(images(), layout);
    }

    /** Opens the images of the run in another place. */
    Dataset dataset(Path images, Optional<String> layout) throws IOException {
        Dataset dataset = Layouts.open(images, layout);
        Path labels = path.resolve(LABELS);
        return Files.exists(labels) ? Layouts.relabelled(dataset, labels) : dataset;
    }

    ExistingRun run() {
        return new ExistingRun(path);
    }

    Path images() throws IOException {
        return Path.of(RegularFile.lines(path.resolve(IMAGES)).getFirst());
    }

    /** Returns the path of the images as it was typed, unless there is no {@value #IMAGES}. */
    Optional<String> typedImages() throws IOException {
        return lines().stream()
                .filter(line -> line.startsWith(TYPED))
                .map(line -> line.substring(TYPED.length()))
                .findFirst();
    }

    /** Returns the options that the run was started with and that apply to the resumed run too. */
    List<String> options() throws IOException {
        return lines().stream().filter(line -> line.startsWith("--")).toList();
    }

    private List<String> lines() throws IOException {
        Path file = path.resolve(IMAGES);
        return Files.exists(file) ? RegularFile.lines(file) : List.of();
    }

    /** Trains; adds how to resume to a failure, if there is a checkpoint. */
    RunResult train(TrainingRun trainer, RunPlan plan, AuditReport audit) throws IOException {
        try {
            return trainer.train(plan, audit, path);
        } catch (UncheckedIOException failed) {
            throw broken(Objects.requireNonNull(failed.getCause()));
        } catch (IOException failed) {
            throw broken(failed);
        }
    }

    private IOException broken(IOException failed) {
        return hasCheckpoint() ? new Failures.BrokenRunException(failed, path) : failed;
    }

    private boolean hasCheckpoint() {
        try (Stream<Path> all = Files.walk(path, 2)) {
            return all.anyMatch(file -> file.endsWith(ExistingRun.CHECKPOINT));
        } catch (IOException | UncheckedIOException _) {
            return false; // the failure of the run counts
        }
    }
}
