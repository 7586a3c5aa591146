package org.gramian.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.gramian.export.OpenModel;
import org.gramian.model.ModelCard;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian predict}: what pictures show, by a trained model. */
@Command(
        name = "predict",
        mixinStandardHelpOptions = true,
        header = "Classify images.",
        description = {
            "Names the likeliest classes of every image, with their probabilities, as soon as they are known.",
            "An image that cannot be read is reported in its place and does not end the work; the exit code is 3 then.",
            "jsonl: {\"picture\":, \"class\":, \"probability\":, \"top\":[{\"class\":, \"probability\":}]} in each line,",
            "or {\"picture\":, \"error\":}; csv: picture,class,probability,class_1,probability_1,…,error."
        })
final class PredictCommand implements Callable<Integer> {
    @Mixin
    private final Console console = new Console();

    @Option(
            names = "--top",
            paramLabel = "K",
            defaultValue = "3",
            description = "classes to name (default: ${DEFAULT-VALUE}, or all where there are fewer)")
    private int top;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            defaultValue = "table",
            description = "table, jsonl or csv (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private PredictionLines.Format format;

    @Option(
            names = "--reject",
            paramLabel = "P",
            defaultValue = "0",
            description = "answer 'unknown' where the likeliest class is less probable than P, as 0.6")
    private double reject;

    @Option(
            names = {"--out", "--output"},
            paramLabel = "FILE",
            description = "write the results there (default: standard output)")
    private @Nullable Path out;

    @Mixin
    private final EngineOptions engine = new EngineOptions();

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "PICTURE|DIR|-",
            description = "images, folders (all images at any depth), or '-' to read names from standard input")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private List<String> inputs;

    @Override
    public Integer call() throws IOException {
        PictureInputs pictures = new PictureInputs(inputs);
        Path file = engine.model();
        ModelCard card = OpenModel.header(file).card();
        check(card, file);
        List<Path> named = pictures.isStandardInput() ? List.of() : pictures.named(console::say);
        int widest =
                named.stream().mapToInt(path -> path.toString().length()).max().orElse(0);
        try (PrintWriter lines = open();
                OpenModel model = engine.open(file)) {
            PredictionLines shown =
                    format.of(lines, widest, Math.min(top, card.classes().size()));
            PredictionRun run = new PredictionRun(
                    model,
                    answer -> Said.of(answer, top, reject),
                    new PredictionRun.Output(shown, lines, out == null ? console.complaints() : console::say));
            if (pictures.isStandardInput()) {
                PictureInputs.lines(System.in, names -> run.predict(paths(names, run), _ -> {}));
            } else {
                predict(run, named, pictures.hasFolder());
            }
            return run.failures() == 0 ? Main.DONE : Main.DATA;
        }
    }

    private void check(ModelCard card, Path file) throws IOException {
        if (top < 1) {
            throw new IllegalArgumentException("--top must be at least 1, found " + top);
        }
        if (!(reject >= 0 && reject <= 1)) {
            throw new IllegalArgumentException("--reject is a probability between 0 and 1, found " + reject);
        }
        if (reject > 0 && card.classes().contains(Said.UNKNOWN)) {
            throw new IllegalArgumentException("--reject answers '" + Said.UNKNOWN
                    + "', which is a class of this model; leave it out and compare probabilities");
        }
        if (out != null && Files.exists(out) && Files.isSameFile(out, file)) {
            throw new IllegalArgumentException("--out would replace the model " + file);
        }
        if (card.crops().boxed()) {
            console.say("the model was trained on boxes of objects; whole images are taken for boxes here");
        }
    }

    /** Closing standard output would silence all that comes after. */
    private PrintWriter open() throws IOException {
        return out == null
                ? new PrintWriter(console.out()) {
                    @Override
                    public void close() {
                        flush();
                    }
                }
                : new PrintWriter(Files.newBufferedWriter(out, StandardCharsets.UTF_8));
    }

    private void predict(PredictionRun run, List<Path> named, boolean folder) {
        if (!folder || (out == null && Terminal.isStandardOutput())) {
            run.predict(named, _ -> {});
        } else {
            try (Progress progress = console.progress("images", named.size())) {
                run.predict(named, progress);
            }
        }
    }

    /** Names that no file can have, and folders without pictures, are reported here. */
    private List<Path> paths(List<String> names, PredictionRun run) {
        List<Path> paths = new ArrayList<>();
        for (String name : names) {
            try {
                paths.addAll(PictureInputs.files(Path.of(name), console::say));
            } catch (InvalidPathException wrong) {
                run.failed(name, "expected the name of a file, found: " + wrong.getReason());
            } catch (IOException wrong) {
                run.failed(name, Failures.sentence(wrong));
            }
        }
        return paths;
    }
}
