package org.gramian.cli.command;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.ImageInputs;
import org.gramian.cli.common.Progress;
import org.gramian.cli.common.TorchOptions;
import org.gramian.cli.common.TrainedModel;
import org.gramian.cli.common.TrainedModel.MissingModelException;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.Gallery.NearestImages;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ModelFile;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian nearest}: finds the training images nearest to an image. */
@Command(name = "nearest", header = "Find the training images nearest to an image.", description = """
    Compares descriptors with the gallery of training images that 'gramian train' stores beside the model, and prints
    the nearest ones with class and Euclidean distance of unit vectors: 0 is identical, 1.41 is orthogonal.
    An unreadable image is reported in its row, and the exit code is then 3.
    jsonl: {"image":, "nearest":[{"name":, "class":, "distance":}]} in each line, or {"image":, "error":};
    csv: image,rank,name,class,distance,error.\
    """)
public final class NearestCommand extends ConsoleCommand {
    @Option(
            names = "--top",
            paramLabel = "K",
            defaultValue = "5",
            description = "number of training images to print (default: ${DEFAULT-VALUE})")
    private int top;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            defaultValue = "table",
            description = "output format: table, jsonl or csv (default: ${DEFAULT-VALUE})")
    private ResultLines.Format format;

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    @Mixin
    private final TrainedModel model = new TrainedModel();

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "IMAGE|DIR",
            description = "images, or folders (searched recursively)")
    private List<String> inputs;

    @Override
    public Integer call() throws IOException {
        if (top < 1) {
            throw new IllegalArgumentException("--top: expected at least 1, found " + top);
        }
        Path file = model.notExported();
        ModelFile.header(file); // reports a broken model before a missing gallery
        Gallery gallery = Gallery.beside(file).orElseThrow(() -> missing(file));
        int left = gallery.leftOut(Gallery.Subset.TRAINING);
        if (left > 0) {
            console.say("the gallery is a sample of the training images; " + left + " are not in it");
        }
        ImageInputs images = new ImageInputs(inputs);
        List<Path> named = images.named(console::say);
        NearestImages training = NearestImages.of(gallery);
        try (Classifier classifier = Classifier.load(file, torch.prepare())) {
            ResultLines lines = new ResultLines(
                    format,
                    console.out(),
                    List.of("image", "rank", "name", "class", "distance", "error"),
                    image -> image + System.lineSeparator() + "  ",
                    console.complaints());
            boolean shown = images.hasFolder() && !Console.isOutputTerminal();
            try (Progress progress = shown ? console.progress("searching", named.size()) : new Progress.None()) {
                lines.run(
                        classifier,
                        named,
                        Set.of(Engine.Rows.DESCRIPTORS),
                        computed -> result(training.nearest(computed.of(Engine.Rows.DESCRIPTORS), top)),
                        progress);
            }
            return lines.exitCode(console, Console.isOutputTerminal());
        }
    }

    private static ResultLines.Result result(List<NearestImages.Match> nearest) {
        int width = nearest.stream()
                .mapToInt(one -> QuotedText.visible(one.className()).length())
                .max()
                .orElse(0);
        List<String> texts = new ArrayList<>();
        List<Map<String, Object>> objects = new ArrayList<>();
        List<List<String>> rows = new ArrayList<>();
        for (NearestImages.Match one : nearest) {
            String label = QuotedText.visible(one.className());
            texts.add(String.format(Locale.ROOT, "distance %.3f  ", one.distance()) + label
                    + " ".repeat(width - label.length()) + "  " + QuotedText.visible(one.name()));
            objects.add(JsonText.object("name", one.name(), "class", one.className(), "distance", one.distance()));
            rows.add(List.of(
                    Integer.toString(rows.size() + 1), one.name(), one.className(), Double.toString(one.distance())));
        }
        String text = String.join(System.lineSeparator() + "  ", texts);
        return new ResultLines.Result(text, Map.of("nearest", objects), rows);
    }

    private static IOException missing(Path model) {
        return new MissingModelException(model + ": expected " + Gallery.FILE + " beside it, found none; 'gramian"
                + " train' writes it unless --no-gallery is given; train again, or resume an interrupted run with: "
                + CommandHint.of("train", "--resume", "RUN"));
    }
}
