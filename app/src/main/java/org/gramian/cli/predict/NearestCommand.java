package org.gramian.cli.predict;

import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.ImageInputs;
import org.gramian.cli.common.MissingModelException;
import org.gramian.cli.common.OutputCheck;
import org.gramian.cli.common.Progress;
import org.gramian.cli.common.Terminal;
import org.gramian.cli.common.TorchOptions;
import org.gramian.cli.common.TrainedModel;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.LongConsumer;
import org.gramian.basis.QuotedText;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.NearestImages;
import org.gramian.gallery.Part;
import org.gramian.image.batch.ImageSource;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;
import org.gramian.model.ModelFile;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian nearest}: finds the training images nearest to an image. */
@Command(
        name = "nearest",
        mixinStandardHelpOptions = true,
        header = "Find the training images nearest to an image.",
        description = {
            "Compares descriptors with the gallery of training images that 'gramian train' stores beside the model, and prints",
            "the nearest ones with class and Euclidean distance of unit vectors: 0 is identical, 1.41 is orthogonal.",
            "An unreadable image is reported in its row, and the exit code is then 3.",
            "jsonl: {\"picture\":, \"nearest\":[{\"name\":, \"class\":, \"distance\":}]} in each line, or {\"picture\":, \"error\":};",
            "csv: picture,rank,name,class,distance,error."
        })
public final class NearestCommand implements Callable<Integer> {
    @Mixin
    private final Console console = new Console();

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
    @SuppressWarnings("NullAway.Init") // set by picocli
    private NearestLines.Format format;

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    @Mixin
    private final TrainedModel model = new TrainedModel();

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "IMAGE|DIR",
            description = "images, or folders (searched recursively)")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private List<String> inputs;

    @Override
    public Integer call() throws IOException {
        if (top < 1) {
            throw new IllegalArgumentException("--top: expected at least 1, found " + top);
        }
        Path file = model.notExported();
        ModelFile.header(file); // reports a broken model before a missing gallery
        Gallery gallery = Gallery.beside(file).orElseThrow(() -> missing(file));
        int left = gallery.leftOut(Part.TRAINING);
        if (left > 0) {
            console.say("the gallery is a sample of the training images; " + left + " are not in it");
        }
        ImageInputs images = new ImageInputs(inputs);
        List<Path> named = images.named(console::say);
        try (Classifier classifier = Classifier.load(file, torch.prepare())) {
            Search search = new Search(NearestImages.of(gallery), format.of(console.out()));
            if (!images.hasFolder() || Terminal.isStandardOutput()) {
                search.run(classifier, named, _ -> {});
            } else {
                try (Progress progress = console.progress("searching", named.size())) {
                    search.run(classifier, named, progress);
                }
            }
            return search.failures == 0 ? ExitCode.DONE : ExitCode.DATA;
        }
    }

    /** Writes the matches of each image as soon as it is computed, and counts the failed ones. */
    private final class Search {
        private final NearestImages training;
        private final NearestLines lines;
        private int failures;

        Search(NearestImages training, NearestLines lines) {
            this.training = training;
            this.lines = lines;
            lines.begin();
        }

        void run(Classifier classifier, List<Path> files, LongConsumer progress) {
            List<ImageSource> images = files.stream().map(ImageSource::of).toList();
            classifier.run(images, Set.of(Engine.Rows.DESCRIPTORS), (index, result) -> {
                add(images.get(index).name(), result);
                progress.accept(index + 1L);
            });
        }

        private void add(String image, ImageResult result) {
            switch (result) {
                case ImageResult.Computed computed -> {
                    try {
                        lines.found(image, training.nearest(computed.of(Engine.Rows.DESCRIPTORS), top));
                    } catch (IllegalArgumentException notFinite) {
                        failed(image, String.valueOf(notFinite.getMessage()));
                    }
                }
                case ImageResult.Failed failed -> failed(image, failed.reason());
            }
            OutputCheck.require(console.out());
        }

        private void failed(String image, String reason) {
            failures++;
            lines.failed(image, reason);
            console.complaints().accept(QuotedText.visible(image + ": " + reason));
        }
    }

    private static IOException missing(Path model) {
        return new MissingModelException(model + ": expected " + Gallery.FILE + " beside it, found none; "
                + "'gramian train' writes it unless --no-gallery is given; train again, or resume an interrupted run with: "
                + CommandHint.of("train", "--resume", "RUN"));
    }
}
