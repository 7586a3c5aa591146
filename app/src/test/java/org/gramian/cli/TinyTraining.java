package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * {@code gramian train} at its smallest: few small images, no weights at hand, a small pooling.
 *
 * @param root a folder of the test's own
 */
public record TinyTraining(Path root) {
    /** A network of another program, see {@code scripts/golden/onnx_backbone.py}; core's tests read it, too. */
    public static final Path NETWORK =
            Path.of("..", "core", "src", "test", "resources", "models", "small-backbone.onnx");

    /** The files of a finished run, or of a fold of one. */
    public static final Set<String> FOLD_FILES = Set.of(
            "confusion.csv",
            "evaluation.json",
            "gallery.safetensors",
            "history.csv",
            "model.safetensors",
            "predictions.csv",
            "review.csv",
            "review.html",
            "spd.json",
            "training.json");

    /** Makes the images. */
    public static TinyTraining in(Path root) throws IOException {
        Files.createDirectories(root.resolve("weights"));
        ImageFolder.tiny(root.resolve("pictures"));
        return new TinyTraining(root);
    }

    public ImageFolder images() {
        return new ImageFolder(root.resolve("pictures"));
    }

    /** What every new run needs: nothing of this machine may play a part. */
    public List<String> context() {
        List<String> context = new ArrayList<>(resumeContext());
        context.add("--no-cache");
        return context;
    }

    /** What a resumed run needs; it does without the cache by itself. */
    private List<String> resumeContext() {
        return List.of("--weights-dir", root.resolve("weights").toString(), "--device", "cpu");
    }

    /** The command line of a new run. */
    public List<String> begin(Path out, Object... more) {
        List<String> line = new ArrayList<>(List.of("train", images().root().toString(), "--out", out.toString()));
        line.addAll(context());
        // a solver needs a thousand passes over so few images
        line.addAll(List.of("--set", "data.crops=center:32", "--set", "stage1.refit=none"));
        if (!List.of(more).contains("--pooling")) {
            line.addAll(List.of("--pooling", "conv:4/rbf/spd:3/relu/triu/root/l2"));
        }
        if (!List.of(more).contains("--backbone")) {
            line.addAll(List.of("--backbone", "filters")); // bundled weights of a build play no part either
        }
        Stream.of(more).map(Object::toString).forEach(line::add);
        return line;
    }

    /** The command line that goes on with a run. */
    public List<String> resume(Path out, Object... more) {
        List<String> line = new ArrayList<>(List.of("train", "--resume", out.toString()));
        line.addAll(resumeContext());
        Stream.of(more).map(Object::toString).forEach(line::add);
        return line;
    }

    public Run train(Path out, Object... more) {
        return Run.of(begin(out, more).toArray());
    }

    public Run goOn(Path out, Object... more) {
        return Run.of(resume(out, more).toArray());
    }

    /** Deletes a folder with everything in it, if it exists. */
    public static void delete(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> all = Files.walk(folder)) {
                for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }

    /** The names of everything in a folder. */
    public static Set<String> names(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.map(path -> path.getFileName().toString()).collect(Collectors.toCollection(TreeSet::new));
        }
    }
}
