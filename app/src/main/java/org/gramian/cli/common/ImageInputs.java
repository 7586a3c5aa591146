package org.gramian.cli.common;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.layout.DatasetLayout.Flat;

/** The images that a command line names: files, all images of folders, or those that the lines of standard input name. */
public record ImageInputs(List<String> arguments) {
    private static final String STANDARD_INPUT = "-";

    /** Maximum lines per batch: fills compute batches, still shows results early. */
    private static final int BATCH_LINES = 64;

    public ImageInputs {
        arguments = List.copyOf(arguments);
        if (arguments.contains(STANDARD_INPUT) && arguments.size() > 1) {
            throw new IllegalArgumentException(
                    "expected '-' (names from standard input) alone, found it among " + arguments.size() + " inputs");
        }
    }

    public boolean isStandardInput() {
        return arguments.contains(STANDARD_INPUT);
    }

    public boolean hasFolder() {
        return arguments.stream().anyMatch(argument -> Files.isDirectory(Path.of(argument)));
    }

    /** Returns all files in the order of the arguments; those of a folder are sorted. */
    public List<Path> named(Consumer<String> remarks) throws IOException {
        List<Path> files = new ArrayList<>();
        for (String argument : arguments) {
            files.addAll(files(Path.of(argument), remarks));
        }
        return files;
    }

    /** Returns a file itself, or all images of a folder. */
    public static List<Path> files(Path path, Consumer<String> remarks) throws IOException {
        if (!Files.isDirectory(path)) {
            return List.of(path);
        }
        Dataset inside = new Flat().read(path);
        inside.notes().forEach(note -> remarks.accept(note.text()));
        return inside.samples().stream().map(Sample::file).toList();
    }

    /** Passes names to a consumer as lines arrive, in batches of at most {@value #BATCH_LINES}, until the stream ends. */
    public static void lines(InputStream stream, Consumer<List<String>> names) throws IOException {
        BufferedReader reader = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
        List<String> some = new ArrayList<>();
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            if (!line.isBlank()) {
                some.add(line);
            }
            if (some.size() == BATCH_LINES || (!some.isEmpty() && !reader.ready())) {
                names.accept(List.copyOf(some));
                some.clear();
            }
        }
        if (!some.isEmpty()) {
            names.accept(List.copyOf(some));
        }
    }
}
