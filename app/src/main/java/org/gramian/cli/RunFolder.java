package org.gramian.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.stream.Stream;
import org.gramian.basis.WholeText;
import org.gramian.run.BegunRun;
import org.gramian.run.RunPlan;
import org.gramian.run.config.Settings;

/**
 * The folder of a run, as the command sees it: its configuration, and where its pictures are.
 *
 * @param path the folder
 */
record RunFolder(Path path) {
    private static final String PICTURES = "pictures.txt";

    /** The folder of a run that was begun. */
    static RunFolder of(Path path) throws IOException {
        if (!new BegunRun(path).exists()) {
            throw new IOException(path + ": expected the folder of a run, with a file " + BegunRun.CONFIG
                    + ", found none; begin one by: " + CommandHint.of("train", "DIR", "--out", path));
        }
        return new RunFolder(path);
    }

    /** {@code runs/<date>-<name of the pictures>}, with a number behind it where there is one already. */
    static RunFolder usual(Path pictures) {
        String name = String.valueOf(pictures.toAbsolutePath().normalize().getFileName())
                .replaceFirst("\\.csv$", "")
                .replaceAll("[^\\p{L}\\p{N}._-]", "-");
        Path first = Path.of("runs", LocalDate.now(java.time.ZoneId.systemDefault()) + "-" + name);
        return new RunFolder(Stream.iterate(1, number -> number + 1)
                .map(number -> number == 1 ? first : first.resolveSibling(first.getFileName() + "-" + number))
                .filter(path -> !Files.exists(path))
                .findFirst()
                .orElseThrow());
    }

    /** A folder for a new run; one that holds something else is refused. */
    static RunFolder fresh(Path path) throws IOException {
        RunFolder folder = new RunFolder(path);
        folder.requireUnused();
        return folder;
    }

    /** Notes where the pictures of a new run are; what else it begins with is kept by training. */
    void begin(Path pictures) throws IOException {
        Files.createDirectories(path);
        WholeText.write(
                path.resolve(PICTURES),
                text -> text.write(pictures.toAbsolutePath().normalize() + "\n"));
    }

    /** Says if a run cannot begin in this folder: something else is there. */
    private void requireUnused() throws IOException {
        if (!Files.exists(path)) {
            return;
        }
        if (!Files.isDirectory(path)) {
            throw new IllegalArgumentException("--out " + path + ": expected a folder, found a file");
        }
        try (Stream<Path> content = Files.list(path)) {
            if (content.findAny().isPresent()) {
                throw new IllegalArgumentException("--out " + path
                        + ": expected a new or empty folder, found files in it;"
                        + " name another one"
                        + (new BegunRun(path).exists()
                                ? ", or go on with the run in it by: " + CommandHint.of("train", "--resume", path)
                                : ""));
            }
        }
    }

    /** The configuration that the run was begun with. */
    Settings settings() {
        return new BegunRun(path).settings();
    }

    /** Of a run, the folds that were asked for when it was begun. */
    RunPlan rest(RunPlan whole) throws IOException {
        return new BegunRun(path).rest(whole);
    }

    /** The pictures that the run was begun with. */
    Path pictures() throws IOException {
        return Path.of(
                Files.readString(path.resolve(PICTURES), StandardCharsets.UTF_8).strip());
    }

    /** Whether some training is kept. */
    boolean hasCheckpoint() throws IOException {
        try (Stream<Path> all = Files.walk(path, 2)) {
            return all.anyMatch(file -> file.endsWith("checkpoint.safetensors"));
        }
    }
}
