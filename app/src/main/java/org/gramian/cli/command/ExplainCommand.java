package org.gramian.cli.command;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.gramian.anomaly.Detector;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.basis.Subsample;
import org.gramian.cli.common.Columns;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.Progress;
import org.gramian.cli.common.TorchOptions;
import org.gramian.cli.common.TrainedModel;
import org.gramian.explain.Explanation;
import org.gramian.explain.HeatImage;
import org.gramian.explain.gradient.CroppedImage;
import org.gramian.explain.gradient.Faithfulness;
import org.gramian.explain.gradient.GradientExplainer;
import org.gramian.explain.gradient.PatchSearch;
import org.gramian.gallery.Gallery;
import org.gramian.image.Image;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ReadResult;
import org.gramian.image.audit.AuditReport;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.model.UnreadableImageException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian explain}: which regions of an image, and which feature maps, drive a model's decision. */
@Command(name = "explain", header = "Explain a prediction by image regions and channel pairs.", description = """
                Backpropagates the score of a class to the feature maps, through classifier, SPD layers and kernel, and writes
                a heat map of the image with the channel pairs that contribute most. For a detector of anomalies, draws its map over
                the image, with a box around each region.""")
public final class ExplainCommand extends ConsoleCommand {
    /** More could not be looked at, and each takes a map of the image. */
    private static final int MAX_PAIRS = 100;

    /** Training images searched for patches: seconds on two cores. */
    private static final int SEARCHED = 100;

    private static final Set<String> DETECTOR_OPTIONS =
            Set.of("--json", "--device", "--threads", "--libtorch", "--accelerate");

    @Option(names = "--class", paramLabel = "NAME", description = "class to explain (default: the predicted class)")
    private @Nullable String className;

    @Option(
            names = "--pairs",
            paramLabel = "K",
            defaultValue = "" + GradientExplainer.DEFAULT_PAIRS,
            description = "channel pairs to show, at most " + MAX_PAIRS + " (default: ${DEFAULT-VALUE})")
    private int pairs;

    @Option(
            names = "--images",
            paramLabel = "DIR",
            description =
                    "training images, searched for the parts that excite each pair most (default: the dataset of the"
                            + " run, if it is still there)")
    private @Nullable Path images;

    @Option(names = "--json", paramLabel = "FILE", description = "also write the numbers as JSON")
    private @Nullable Path json;

    @Option(
            names = "--check",
            description = "also test the heat map: mask its hottest fifth and other regions of the same size, and"
                    + " compare the scores")
    private boolean check;

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    @Mixin
    private final TrainedModel model = new TrainedModel();

    @Parameters(index = "1", paramLabel = "IMAGE", description = "the image")
    private Path imageFile;

    @Parameters(index = "2", paramLabel = "OUT.png", description = "the image to write")
    private Path out;

    @Override
    public Integer call() throws IOException {
        Path file = model.notExported();
        if (Detector.isDetector(file)) {
            console.requireOnly(DETECTOR_OPTIONS, DetectorCommands.describe(file));
            requireOutputs(file);
            try (Detector detector = Detector.load(file, torch.prepare())) {
                return DetectorCommands.explain(detector, imageFile, out, json, console);
            }
        }
        ModelCard card = ModelFile.header(file).card();
        if (pairs < 0 || pairs > MAX_PAIRS) {
            throw new IllegalArgumentException("--pairs: expected 0 to " + MAX_PAIRS + ", found " + pairs);
        }
        requireOutputs(file);
        Image image = read(card);
        try (ModelFile.Stored stored = ModelFile.read(file, torch.prepare())) {
            GradientExplainer explainer = new GradientExplainer(stored.model(), stored.card(), pairs);
            CroppedImage view = CroppedImage.of(image, stored.card());
            Explanation why = withPatches(
                    explainer,
                    className == null ? explainer.explain(view) : explainer.explain(view, label(card, className)),
                    file);
            byte[] png = HeatImage.png(HeatImage.sheet(image, why));
            AtomicFile.put(out, partial -> Files.write(partial, png));
            if (json != null) {
                JsonText.write(json, why.asMap());
            }
            console.print(lines(why));
            if (check) {
                console.out().println(tried(stored, image, why));
            }
            console.say("wrote " + out);
            return ExitCode.DONE;
        }
    }

    /** The field of a run's audit that names the dataset. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    private static int label(ModelCard card, String name) {
        try {
            return card.label(name);
        } catch (IllegalArgumentException unknown) {
            throw new IllegalArgumentException(
                    "--class: " + unknown.getMessage() + "; 'gramian show' lists them", unknown);
        }
    }

    private record AuditedDataset(String root) {}

    /** Adds the parts of training images that excite the pairs most, if the images are there. */
    private Explanation withPatches(GradientExplainer explainer, Explanation why, Path model) throws IOException {
        Path audit = model.resolveSibling(AuditReport.FILE_NAME);
        if (images == null && (why.pairs().isEmpty() || !Files.isRegularFile(audit))) {
            return why;
        }
        Path root = images != null
                ? images
                : Path.of(JsonText.read(audit, AuditedDataset.class, "an audit", "give --images DIR")
                        .root());
        Optional<Gallery> gallery = Gallery.beside(model);
        if (gallery.isEmpty() || why.pairs().isEmpty()) {
            if (images != null && gallery.isEmpty()) {
                throw new IllegalArgumentException("--images: expected a run folder, found a model without "
                        + Gallery.FILE + ", which lists the training images");
            }
            return why;
        }
        Path place = root.toAbsolutePath().normalize();
        Path folder = Files.isRegularFile(place) ? place.resolveSibling("") : place;
        List<Path> files = gallery.get().items().stream()
                .filter(item -> item.subset() == Gallery.Subset.TRAINING)
                .map(item -> folder.resolve(item.name()).normalize())
                .filter(file -> file.startsWith(folder) && Files.isRegularFile(file))
                .toList();
        if (files.isEmpty()) {
            String problem = "no training images in " + root;
            if (images != null) {
                throw new IllegalArgumentException("--images: " + problem);
            }
            console.say(problem + ": pairs are shown without examples; give --images DIR");
            return why;
        }
        PatchSearch search = new PatchSearch(explainer, why);
        ImageReader reader = new ImageReader(ImageLimits.DEFAULT);
        List<Path> searched = Subsample.even(files, SEARCHED);
        try (Progress progress = console.progress("training images", searched.size())) {
            for (int i = 0; i < searched.size(); i++) {
                if (reader.read(searched.get(i)) instanceof ReadResult.Readable(Image image, var _)) {
                    search.add(folder.relativize(searched.get(i)).toString(), image);
                }
                progress.accept(i + 1L);
            }
        }
        return search.found();
    }

    private void requireOutputs(Path file) throws IOException {
        if (!out.toString().toLowerCase(Locale.ROOT).endsWith(".png")) {
            throw new IllegalArgumentException("OUT: expected a file name that ends with .png, found " + out);
        }
        AtomicFile.require("OUT", out, List.of(file, imageFile));
        AtomicFile.require("--json", json, List.of(file, imageFile));
        if (json != null
                && out.toAbsolutePath().normalize().equals(json.toAbsolutePath().normalize())) {
            throw new IllegalArgumentException("expected two files for OUT.png and --json, found " + out + " for both");
        }
    }

    private Image read(ModelCard card) throws UnreadableImageException {
        ReadResult reading = new ImageReader(ImageLimits.DEFAULT).read(imageFile);
        return switch (card.crops().whole().testing().validate(reading, Optional.empty())) {
            case ReadResult.Unreadable problem -> throw new UnreadableImageException(imageFile, problem);
            case ReadResult.Readable(Image image, var _) -> image;
        };
    }

    private static String tried(ModelFile.Stored stored, Image image, Explanation why) {
        Faithfulness.Trial trial = Faithfulness.DEFAULT.of(
                stored.model(), stored.card(), image, why.heat(), stored.card().label(why.className()));
        return String.format(
                Locale.ROOT,
                "check          score %.3f; hottest fifth masked %.3f, other regions masked %.3f: %s",
                trial.whole(),
                trial.withoutHottest(),
                trial.withoutOther(),
                trial.holds() ? "the heat map is faithful" : "the heat map is not faithful for this image");
    }

    private static String lines(Explanation why) {
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT,
                "class          %s, probability %.4f, score %.4f%s%ncovered        %.0f %% of the image%nchannels     "
                        + "  %s%n",
                QuotedText.visible(why.className()),
                why.probability(),
                why.score(),
                why.isAnswer() ? "" : "; not the predicted class",
                100 * why.heat().coverage(),
                why.parts().text()));
        Columns columns = new Columns();
        for (Explanation.ChannelPair pair : why.pairs()) {
            String maps = pair.first() == pair.second()
                    ? "channel " + pair.first()
                    : "channels " + pair.first() + " and " + pair.second();
            columns.row("  " + maps, String.format(Locale.ROOT, "%+.5f", pair.contribution()));
        }
        return text.append(columns).toString();
    }
}
