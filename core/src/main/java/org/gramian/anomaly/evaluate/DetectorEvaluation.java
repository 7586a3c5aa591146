package org.gramian.anomaly.evaluate;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.IntConsumer;
import org.gramian.anomaly.AnomalyMap;
import org.gramian.anomaly.Detector;
import org.gramian.anomaly.Inspection;
import org.gramian.anomaly.evaluate.AnomalyDataset.TestImage;
import org.gramian.basis.Auroc;
import org.gramian.evaluate.Proportion;
import org.gramian.image.Image;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult;
import org.jspecify.annotations.Nullable;

/**
 * Measures of a detector on labelled images.
 *
 * @param results result of each readable image
 * @param skipped images that could not be read, with the reason
 * @param imageAuroc AUROC of the scores of images, empty without both good and anomalous images
 * @param pixelAuroc AUROC of the map over pixels, empty without masks
 * @param aupro see {@link PixelMeasures}, empty without masks
 * @param f1 F1 of anomalous images at the threshold
 * @param recall share of the anomalous images that are found
 * @param falseAlarms share of the good images that are called anomalous, with its 95 % interval; empty without good images
 */
@SuppressWarnings("exports") // for the application
public record DetectorEvaluation(
        List<Result> results,
        List<String> skipped,
        OptionalDouble imageAuroc,
        OptionalDouble pixelAuroc,
        OptionalDouble aupro,
        double f1,
        double recall,
        Optional<Proportion> falseAlarms) {
    private static final int MAX_PIXELS = 1 << 20;

    /** Result of one image, without its map. */
    public record Result(TestImage image, double score, double pValue, boolean anomalous) {}

    /**
     * Evaluates a detector.
     *
     * @param progress receives the number of finished images
     */
    public static DetectorEvaluation of(Detector detector, List<TestImage> images, IntConsumer progress) {
        List<Result> results = new ArrayList<>();
        List<String> skipped = new ArrayList<>();
        PixelMeasures pixels = new PixelMeasures();
        boolean masked = false;
        for (TestImage image : images) {
            try {
                Inspection inspection = detector.inspect(ImageSource.of(image.file()));
                results.add(new Result(image, inspection.score(), inspection.pValue(), inspection.isAnomalous()));
                masked |= addPixels(image, inspection.map(), pixels);
            } catch (IOException unreadable) {
                skipped.add(String.valueOf(unreadable.getMessage()));
            }
            progress.accept(results.size() + skipped.size());
        }
        return of(results, skipped, masked && pixels.regionCount() > 0 ? pixels : null);
    }

    private static DetectorEvaluation of(List<Result> results, List<String> skipped, @Nullable PixelMeasures pixels) {
        double[] good = scores(results, false);
        double[] bad = scores(results, true);
        long found = count(results, true);
        long alarms = count(results, false);
        boolean both = good.length > 0 && bad.length > 0;
        return new DetectorEvaluation(
                results,
                skipped,
                both ? OptionalDouble.of(Auroc.of(good, bad).value()) : OptionalDouble.empty(),
                pixels == null ? OptionalDouble.empty() : OptionalDouble.of(pixels.auroc()),
                pixels == null ? OptionalDouble.empty() : OptionalDouble.of(pixels.aupro()),
                found == 0 ? 0 : 2.0 * found / (found + alarms + bad.length),
                bad.length == 0 ? 0 : (double) found / bad.length,
                good.length == 0 ? Optional.empty() : Optional.of(new Proportion((int) alarms, good.length)));
    }

    private static double[] scores(List<Result> results, boolean anomalous) {
        return results.stream()
                .filter(result -> result.image.anomalous() == anomalous)
                .mapToDouble(Result::score)
                .toArray();
    }

    private static long count(List<Result> results, boolean anomalous) {
        return results.stream()
                .filter(result -> result.image.anomalous() == anomalous && result.anomalous)
                .count();
    }

    /** Adds the pixels of an image with a mask, or of a good image, at most a million of them. */
    private static boolean addPixels(TestImage image, AnomalyMap map, PixelMeasures pixels) throws IOException {
        if (image.anomalous() && image.mask().isEmpty()) {
            return false;
        }
        double scale = Math.min(1, Math.sqrt((double) MAX_PIXELS / ((double) map.width() * map.height())));
        int width = Math.max(1, (int) (map.width() * scale));
        int height = Math.max(1, (int) (map.height() * scale));
        boolean[] mask = new boolean[width * height];
        if (image.anomalous()) {
            ImageSource source = ImageSource.of(image.mask().orElseThrow());
            switch (source.reader().get()) {
                case ReadResult.Unreadable problem ->
                    throw new IOException("mask " + source.name() + ": " + problem.reason());
                case ReadResult.Readable(Image found, var _) -> fill(mask, width, height, found);
            }
        }
        pixels.add(map.resized(width, height), mask, width);
        return image.anomalous();
    }

    private static void fill(boolean[] mask, int width, int height, Image found) {
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                int row = (int) ((y + 0.5) * found.height() / height);
                int column = (int) ((x + 0.5) * found.width() / width);
                mask[y * width + x] = (found.rgb()[3 * (row * found.width() + column)] & 0xff) > 127;
            }
        }
    }
}
