package org.gramian.anomaly;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.gramian.anomaly.Detector.Tiles;
import org.gramian.anomaly.Features.Size;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.Weights;
import org.gramian.basis.Auroc;
import org.gramian.basis.Conformal;
import org.gramian.basis.Interrupts;
import org.gramian.basis.ParallelLoop;
import org.gramian.image.Image;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult;
import org.gramian.image.crop.Preprocessing;
import org.gramian.linear.Whitening;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.event.TrainEvent;
import org.jspecify.annotations.Nullable;

/**
 * Trains a detector on good images.
 *
 * <p>The images are divided into folds. For each kind of {@link PatchModel}, with and without the Gaussian of mean features, good images
 * that were left out are compared with the same images with synthetic defects, or with given defects; the simplest candidate within one
 * standard error of the best AUROC is fitted to all images. Its scores of left-out images are the calibration of the p-values.
 *
 * @since 0.1
 */
public final class DetectorTraining {
    /** Fewest good images. */
    public static final int FEWEST = 5;

    private static final int FOLDS = 5;
    private static final int BATCH = 8;
    private static final int MAX_SYNTHETIC = 60;
    private static final int SYNTHETIC_EACH = 2;
    private static final int SIZED = 25;
    private static final long MAX_FEATURE_BYTES = 3L << 30;

    /**
     * Options.
     *
     * @param side root of the number of pixels to which images are resized
     * @param tile side of tiles in pixels; 0 for whole images
     * @param falseAlarms rate of false alarms; empty for {@value #DEFAULT_RATE}, or the lowest that fewer images allow
     * @param threads decoding threads
     */
    public record Options(int side, int tile, OptionalDouble falseAlarms, long seed, int threads) {
        public static final int DEFAULT_SIDE = 384;
        public static final double DEFAULT_RATE = 0.01;

        public Options {
            falseAlarms.ifPresent(DetectorCard::requireRate);
            if (side < 64 || side > 4096) {
                throw new IllegalArgumentException("expected an image size of 64 to 4096, found " + side);
            }
            if (tile != 0 && tile < 64) {
                throw new IllegalArgumentException("expected tiles of at least 64 pixels, found " + tile);
            }
        }
    }

    /**
     * A candidate with its comparison.
     *
     * @param auroc AUROC of left-out good images against defects
     * @param error its standard error
     */
    public record Candidate(String name, double auroc, double error, boolean chosen) {}

    /**
     * Result of training.
     *
     * @param detector the caller closes it
     * @param candidates compared candidates, the simplest first
     * @param odd good images whose scores are far above those of the others: perhaps not good
     * @param unreadable images that could not be read, with the reason
     */
    public record Result(Detector detector, List<Candidate> candidates, List<String> odd, List<String> unreadable) {}

    private final Backbone backbone;
    private final ParameterSet parameters;
    private final Preprocessing preprocessing;
    private final Weights.Provenance provenance;
    private final Device device;
    private final Options options;
    private final Consumer<TrainEvent> listener;
    private final BooleanSupplier cancelled;

    /** Creates a training with pretrained weights. */
    @SuppressWarnings("exports") // for the application
    public DetectorTraining(
            Backbone backbone,
            Weights weights,
            Device device,
            Options options,
            Consumer<TrainEvent> listener,
            BooleanSupplier cancelled) {
        this.backbone = backbone;
        this.parameters = weights.load(backbone.cutAt(String.join("+", Features.layers(backbone))), DType.F32, device);
        this.preprocessing = weights.preprocessing();
        this.provenance = weights.provenance();
        this.device = device;
        this.options = options;
        this.listener = listener;
        this.cancelled = cancelled;
    }

    /** A good image into which defects are drawn, by its index among the readable ones. */
    private record Sample(int image, Image content) {}

    /** Images of a purpose: features of each tile, and the image that each tile belongs to. */
    private static final class Pool implements AutoCloseable {
        private final List<Tensor> features = new ArrayList<>();
        private final List<Integer> images = new ArrayList<>();

        int count() {
            return images.isEmpty() ? 0 : images.getLast() + 1;
        }

        @Override
        public void close() {
            features.forEach(Tensor::close);
        }
    }

    /**
     * Trains a detector.
     *
     * @param good good images
     * @param defects images with defects, by which candidates are compared instead of synthetic ones; may be empty
     * @param more what the card says of the origin beside backbone, weights, seed and numbers of images, by key
     * @throws IllegalArgumentException if there are too few readable images
     * @throws CancellationException if it was cancelled
     * @throws InterruptedIOException if the thread is interrupted
     */
    public Result train(List<ImageSource> good, List<ImageSource> defects, Map<String, String> more)
            throws IOException {
        return Interrupts.asIo("training", () -> trained(good, defects, origin(good, defects, more)));
    }

    private SequencedMap<String, String> origin(
            List<ImageSource> good, List<ImageSource> defects, Map<String, String> more) {
        SequencedMap<String, String> origin = new LinkedHashMap<>();
        origin.put("backbone", backbone.name());
        origin.put("weights", provenance.fingerprint());
        origin.put("weights.licence", provenance.licence());
        origin.put("images", Integer.toString(good.size()));
        origin.put("defects", Integer.toString(defects.size()));
        origin.put("seed", Long.toString(options.seed()));
        origin.putAll(more);
        return origin;
    }

    private Result trained(List<ImageSource> good, List<ImageSource> defects, SequencedMap<String, String> origin)
            throws InterruptedException {
        List<String> unreadable = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(options.seed);
        requireEnough(good.size());
        Size size = size(good);
        Features features = Features.of(backbone, Features.layers(backbone), parameters, preprocessing, size, device);
        List<ImageSource> used = bounded(good, features, random);
        boolean synthetic = defects.isEmpty();
        try (Scope _ = Scope.open();
                Pool goods = new Pool();
                Pool bads = new Pool()) {
            List<Sample> samples = new ArrayList<>();
            List<ImageSource> read =
                    extract("good images", used, features, goods, unreadable, synthetic ? samples : null);
            requireEnough(read.size());
            if (synthetic) {
                compute("synthetic defects", draw(samples, random), features, bads);
            } else {
                extract("defects", defects, features, bads, unreadable, null);
            }
            int[] folds = folds(read.size(), random);
            int[] foldsOfDefects = IntStream.range(0, bads.count())
                    .map(i -> synthetic ? folds[samples.get(i / SYNTHETIC_EACH).image] : i % FOLDS)
                    .toArray();
            List<Scored> compared = compare(goods, bads, folds, foldsOfDefects);
            Scored chosen = choose(compared);
            AnomalyModel model = fit(chosen.kind, chosen.withWhole, goods.features);
            model.tensors().forEach(Scope::detach);
            DetectorCard card = new DetectorCard(
                    preprocessing,
                    features.layers(),
                    size.width(),
                    size.height(),
                    options.tile,
                    chosen.patchScale,
                    chosen.withWhole ? chosen.wholeScale : 0,
                    options.falseAlarms.orElse(Conformal.reachable(Options.DEFAULT_RATE, chosen.good.length)),
                    Arrays.stream(chosen.good).boxed().toList(),
                    Arrays.stream(chosen.peaks).boxed().toList(),
                    origin,
                    new LinkedHashMap<>(Map.of(synthetic ? "auroc_synthetic" : "auroc_defects", chosen.auroc.value())));
            Detector detector =
                    Detector.of(new Detector.LibtorchDetector(new DetectorFile.Stored(features, model, card)), card);
            List<Candidate> candidates = compared.stream()
                    .map(one -> one.candidate(one.equals(chosen)))
                    .toList();
            return new Result(detector, candidates, odd(chosen.good, read), unreadable);
        } catch (RuntimeException | InterruptedException failed) {
            features.close();
            throw failed;
        }
    }

    private static void requireEnough(int found) {
        if (found < FEWEST) {
            throw new IllegalArgumentException("expected at least " + FEWEST + " good images to learn from, found "
                    + found + "; 100 or more are needed for a rate of false alarms of 0.01");
        }
    }

    private void warn(String text) {
        listener.accept(new TrainEvent.Warning(text));
    }

    private void check() {
        if (cancelled.getAsBoolean()) {
            throw new CancellationException("training was cancelled");
        }
    }

    /** Returns the working size from the median size of some images; images are not enlarged beyond 224² pixels. */
    private Size size(List<ImageSource> good) {
        List<Image> read = new ArrayList<>();
        for (int i = 0; i < Math.min(good.size(), SIZED); i++) {
            ImageSource source = good.get((int) ((long) i * good.size() / Math.min(good.size(), SIZED)));
            if (source.reader().get() instanceof ReadResult.Readable(Image image, var _)) {
                read.add(image);
            }
        }
        if (read.isEmpty()) {
            throw new IllegalArgumentException("none of the good images can be read, for example "
                    + good.getFirst().name());
        }
        double width = median(read.stream().mapToDouble(Image::width).toArray());
        double height = median(read.stream().mapToDouble(Image::height).toArray());
        double aspect = width / height;
        long other = read.stream()
                .filter(image -> Math.abs(Math.log((double) image.width() / image.height() / aspect)) > Math.log(1.25))
                .count();
        if (other > 0 && options.tile == 0) {
            warn(other + " of " + read.size() + " good images have another aspect ratio than most and are distorted to "
                    + Math.round(width) + "×" + Math.round(height) + "; crop all images alike");
        }
        if (options.tile > 0) {
            width = Math.min(width, options.tile);
            height = Math.min(height, options.tile);
        }
        int own = (int) Math.max(224, Math.sqrt(width * height));
        return Size.of(Math.min(options.side, own), width, height);
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    /** Returns a random sample of the images if the features of all would take too much memory. */
    private List<ImageSource> bounded(List<ImageSource> good, Features features, SplittableRandom random) {
        long each =
                features.grid().elements() * features.backbone().channels() * Float.BYTES * (options.tile > 0 ? 4 : 1);
        int most = (int) Math.max(FEWEST, MAX_FEATURE_BYTES / each);
        if (good.size() <= most) {
            return good;
        }
        warn((good.size() - most) + " good images are left out at random: the features of all take too much memory");
        List<ImageSource> shuffled = new ArrayList<>(good);
        Collections.shuffle(shuffled, new Random(random.nextLong()));
        return shuffled.subList(0, most);
    }

    /** Reads images in parallel and computes their features batch by batch; returns the readable ones. */
    private List<ImageSource> extract(
            String phase,
            List<ImageSource> sources,
            Features features,
            Pool pool,
            List<String> unreadable,
            @Nullable List<Sample> samples)
            throws InterruptedException {
        List<ImageSource> read = new ArrayList<>();
        int everyNth = Math.max(1, Math.ceilDiv(sources.size(), MAX_SYNTHETIC));
        for (int from = 0; from < sources.size(); from += BATCH) {
            check();
            List<ImageSource> batch = sources.subList(from, Math.min(sources.size(), from + BATCH));
            ReadResult[] results = new ReadResult[batch.size()];
            ParallelLoop.forEach(
                    batch.size(),
                    options.threads,
                    _ -> {},
                    i -> results[i] = batch.get(i).reader().get());
            List<Image> images = new ArrayList<>();
            for (int i = 0; i < results.length; i++) {
                switch (results[i]) {
                    case ReadResult.Unreadable problem ->
                        unreadable.add(batch.get(i).name() + ": " + problem.reason());
                    case ReadResult.Readable(Image image, var _) -> {
                        images.add(image);
                        read.add(batch.get(i));
                        if (samples != null && (from + i) % everyNth == 0) {
                            samples.add(new Sample(read.size() - 1, image));
                        }
                    }
                }
            }
            compute(images, features, pool);
            listener.accept(new TrainEvent.Task(phase, Math.min(sources.size(), from + BATCH), sources.size()));
        }
        return read;
    }

    private void compute(String phase, List<Image> images, Features features, Pool pool) throws InterruptedException {
        for (int from = 0; from < images.size(); from += BATCH) {
            check();
            compute(images.subList(from, Math.min(images.size(), from + BATCH)), features, pool);
            listener.accept(new TrainEvent.Task(phase, Math.min(images.size(), from + BATCH), images.size()));
        }
    }

    private void compute(List<Image> images, Features features, Pool pool) throws InterruptedException {
        int first = pool.count();
        record Part(int image, Image content) {}
        List<Part> parts = new ArrayList<>();
        for (int i = 0; i < images.size(); i++) {
            Image image = images.get(i);
            for (Tiles.Tile tile :
                    Tiles.of(image.width(), image.height(), options.tile).all()) {
                parts.add(new Part(first + i, tile.cut(image)));
            }
        }
        for (int from = 0; from < parts.size(); from += BATCH) {
            List<Part> batch = parts.subList(from, Math.min(parts.size(), from + BATCH));
            float[][] rendered = new float[batch.size()][];
            ParallelLoop.forEach(
                    batch.size(), options.threads, _ -> {}, i -> rendered[i] = features.render(batch.get(i).content));
            try (Scope scope = Scope.open()) {
                Tensor all = features.compute(List.of(rendered));
                for (int i = 0; i < batch.size(); i++) {
                    Tensor one = all.slice(0, i, i + 1L).copy().reshape(all.size(1), all.size(2));
                    Scope.detach(scope.keep(one));
                    pool.features.add(one);
                    pool.images.add(batch.get(i).image);
                }
            }
        }
    }

    private static List<Image> draw(List<Sample> samples, SplittableRandom random) {
        List<Image> drawn = new ArrayList<>();
        for (Sample sample : samples) {
            for (int i = 0; i < SYNTHETIC_EACH; i++) {
                drawn.add(SyntheticDefects.draw(sample.content, drawn.size(), random));
            }
        }
        return drawn;
    }

    /** Returns the fold of each image; folds differ by at most one image. */
    private static int[] folds(int images, SplittableRandom random) {
        List<Integer> order = new ArrayList<>(IntStream.range(0, images).boxed().toList());
        Collections.shuffle(order, new Random(random.nextLong()));
        int[] folds = new int[images];
        for (int i = 0; i < images; i++) {
            folds[order.get(i)] = i % FOLDS;
        }
        return folds;
    }

    /** Scores of a candidate. */
    @SuppressWarnings("ArrayRecordComponent") // made once, read only
    private record Scored(
            PatchModel.Kind kind,
            boolean withWhole,
            double patchScale,
            double wholeScale,
            double[] good,
            double[] peaks,
            Auroc auroc) {
        Candidate candidate(boolean chosen) {
            String name = kind.name().toLowerCase(Locale.ROOT) + (withWhole ? "+mean" : "");
            return new Candidate(name, auroc.value(), auroc.error(), chosen);
        }
    }

    /** Returns the first candidate within one standard error of the best. */
    private static Scored choose(List<Scored> scored) {
        Auroc best = scored.stream()
                .map(Scored::auroc)
                .max(Comparator.comparingDouble(Auroc::value))
                .orElseThrow();
        return scored.stream()
                .filter(one -> best.value() - one.auroc.value() <= best.errorOfDifference(one.auroc))
                .findFirst()
                .orElseThrow();
    }

    /** Distances of the images of a pool: the largest over the tiles of each. */
    private static final class ImageDistances {
        private final double[] top;
        private final double[] whole;
        private final double[] peak;

        ImageDistances(int images) {
            top = new double[images];
            whole = new double[images];
            peak = new double[images];
        }

        void add(int image, AnomalyModel.Distances distances) {
            top[image] = Math.max(top[image], distances.top());
            whole[image] = Math.max(whole[image], distances.whole());
            peak[image] = Math.max(peak[image], distances.peak());
        }
    }

    /** Scores left-out good images and defects by every candidate. */
    private List<Scored> compare(Pool goods, Pool bads, int[] folds, int[] foldsOfDefects) {
        List<PatchModel.Kind> kinds = new ArrayList<>(List.of(PatchModel.Kind.values()));
        if (options.tile > 0) {
            kinds.remove(PatchModel.Kind.POSITIONS); // a tile has no place of its own
        }
        List<Scored> alone = new ArrayList<>();
        List<Scored> withWhole = new ArrayList<>();
        int done = 0;
        for (PatchModel.Kind kind : kinds) {
            ImageDistances good = new ImageDistances(folds.length);
            ImageDistances bad = new ImageDistances(foldsOfDefects.length);
            for (int fold = 0; fold < FOLDS; fold++) {
                check();
                int left = fold;
                List<Tensor> fitted = IntStream.range(0, goods.features.size())
                        .filter(i -> folds[goods.images.get(i)] != left)
                        .mapToObj(goods.features::get)
                        .toList();
                try (Scope _ = Scope.open()) {
                    AnomalyModel model = fit(kind, true, fitted);
                    score(model, goods, good, image -> folds[image] == left);
                    score(model, bads, bad, image -> foldsOfDefects[image] == left);
                }
                listener.accept(new TrainEvent.Task("comparing detectors", ++done, (long) kinds.size() * FOLDS));
            }
            alone.add(scored(kind, false, good, bad));
            withWhole.add(scored(kind, true, good, bad));
        }
        alone.addAll(withWhole);
        return alone;
    }

    private static Scored scored(PatchModel.Kind kind, boolean withWhole, ImageDistances good, ImageDistances bad) {
        double patchScale = positive(median(good.top));
        double wholeScale = positive(median(good.whole));
        double[] goodScores = scores(good, withWhole, patchScale, wholeScale);
        double[] peaks = Arrays.stream(good.peak).map(peak -> peak / patchScale).toArray();
        Auroc auroc = Auroc.of(goodScores, scores(bad, withWhole, patchScale, wholeScale));
        return new Scored(kind, withWhole, patchScale, wholeScale, goodScores, peaks, auroc);
    }

    private static double positive(double scale) {
        return scale > 0 ? scale : 1; // all good images are equal
    }

    private static double[] scores(ImageDistances images, boolean withWhole, double patchScale, double wholeScale) {
        return IntStream.range(0, images.top.length)
                .mapToDouble(i -> {
                    double patches = images.top[i] / patchScale;
                    return withWhole ? (patches + images.whole[i] / wholeScale) / 2 : patches;
                })
                .toArray();
    }

    private static void score(AnomalyModel model, Pool pool, ImageDistances distances, IntPredicate wanted) {
        for (int i = 0; i < pool.features.size(); i++) {
            int image = pool.images.get(i);
            if (wanted.test(image)) {
                try (Scope _ = Scope.open()) {
                    distances.add(image, model.distances(pool.features.get(i).unsqueeze(0))[0]);
                }
            }
        }
    }

    private AnomalyModel fit(PatchModel.Kind kind, boolean withWhole, List<Tensor> features) {
        PatchModel patches = kind.fit(features, options.seed);
        Optional<Whitening> whole = withWhole ? Optional.of(ofMeans(features)) : Optional.empty();
        return new AnomalyModel(patches, whole);
    }

    private static Whitening ofMeans(List<Tensor> features) {
        List<Tensor> means = new ArrayList<>();
        for (Tensor each : features) {
            means.add(AnomalyModel.meanFeatures(each.unsqueeze(0)));
        }
        return Whitening.fit(List.of(Tensors.concat(means, 0)));
    }

    /** Returns the images whose scores lie far outside those of the others: above the upper quartile by three times the quartile range. */
    private static List<String> odd(double[] scores, List<ImageSource> images) {
        double[] sorted = scores.clone();
        Arrays.sort(sorted);
        double lower = sorted[sorted.length / 4];
        double upper = sorted[3 * sorted.length / 4];
        double limit = upper + 3 * (upper - lower);
        return IntStream.range(0, scores.length)
                .filter(i -> scores[i] > limit)
                .boxed()
                .sorted(Comparator.comparingDouble((Integer i) -> scores[i]).reversed())
                .map(i -> images.get(i).name())
                .toList();
    }
}
