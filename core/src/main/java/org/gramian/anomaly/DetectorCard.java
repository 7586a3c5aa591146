package org.gramian.anomaly;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.gramian.basis.Conformal;
import org.gramian.image.crop.Preprocessing;

/**
 * Metadata of a detector.
 *
 * @param layers feature layers that are joined
 * @param width width to which images, or tiles, are resized
 * @param height height to which images, or tiles, are resized
 * @param tile side of the tiles into which images are cut, in pixels; 0 for whole images
 * @param patchScale distance that gives a score of 1
 * @param wholeScale distance of the image's mean features that gives a score of 1; 0 if unused
 * @param falseAlarms rate of false alarms
 * @param calibration scores of good images that took no part in fitting, ascending
 * @param peaks largest map values of those images, ascending
 * @param origin how it was trained, by key; no clock time
 * @param metrics measures of the choice, by name
 * @since 0.1
 */
public record DetectorCard(
        Preprocessing preprocessing,
        List<String> layers,
        int width,
        int height,
        int tile,
        double patchScale,
        double wholeScale,
        double falseAlarms,
        List<Double> calibration,
        List<Double> peaks,
        SequencedMap<String, String> origin,
        SequencedMap<String, Double> metrics) {
    /** @throws IllegalArgumentException if a value is out of its range */
    public DetectorCard {
        layers = List.copyOf(layers);
        calibration = calibration.stream().sorted().toList();
        peaks = peaks.stream().sorted().toList();
        origin = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(origin));
        metrics = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(metrics));
        if (width < 32 || height < 32 || (long) width * height > 1 << 24 || tile < 0) {
            throw new IllegalArgumentException(
                    "expected images of 32×32 to 4096×4096 pixels and no negative tile, found " + width + "×" + height
                            + " and tiles of " + tile);
        }
        if (!(patchScale > 0) || !Double.isFinite(patchScale) || !(wholeScale >= 0) || !Double.isFinite(wholeScale)) {
            throw new IllegalArgumentException(
                    "expected positive finite scales of distances, found " + patchScale + " and " + wholeScale);
        }
        requireRate(falseAlarms);
        if (calibration.isEmpty() || calibration.size() != peaks.size()) {
            throw new IllegalArgumentException("expected a score and a largest map value of each good image, found "
                    + calibration.size() + " and " + peaks.size());
        }
    }

    /**
     * Checks a rate of false alarms.
     *
     * @throws IllegalArgumentException if it is not between 0 and 1
     */
    public static void requireRate(double falseAlarms) {
        if (!(falseAlarms > 0 && falseAlarms < 1)) {
            throw new IllegalArgumentException(
                    "expected a rate of false alarms between 0 and 1, such as 0.01, found " + falseAlarms);
        }
    }

    /** Returns this card with another rate of false alarms. */
    public DetectorCard withFalseAlarms(double rate) {
        return new DetectorCard(
                preprocessing,
                layers,
                width,
                height,
                tile,
                patchScale,
                wholeScale,
                rate,
                calibration,
                peaks,
                origin,
                metrics);
    }

    /** Returns the p-value of a score. */
    public double pValue(double score) {
        return Conformal.pValue(calibration, score);
    }

    /** Returns the score above which an image is anomalous; infinite if there are too few good images for the rate. */
    public double threshold() {
        return Conformal.threshold(calibration, falseAlarms);
    }

    /** Returns the threshold that the scores would give without the highest, those of odd images. */
    public double thresholdWithout(int highest) {
        return Conformal.threshold(calibration.subList(0, Math.max(1, calibration.size() - highest)), falseAlarms);
    }

    /** Returns the map value above which a region is anomalous: the largest of good images with too few of them for the rate. */
    public double mapThreshold() {
        return Math.min(Conformal.threshold(peaks, falseAlarms), peaks.getLast());
    }

    /** Returns the number of good images that the rate of false alarms needs before any image can be anomalous. */
    public int imagesNeeded() {
        return Conformal.needed(falseAlarms);
    }
}
