package org.gramian.image.audit;

/**
 * Thresholds of the audit.
 *
 * @param hashDistance most differing bits of two hashes for near duplicates to be compared further, 0 to {@value #MOST_BITS}
 * @param difference largest relative difference of two sketches for near duplicates, see {@link ImageSignature#difference}
 * @param tinySide a short side below this is tiny
 * @param inputSide a short side below this is enlarged for the network
 * @param extremeAspect long side over short side above this is extreme
 * @param imbalance largest class over smallest class above this is unbalanced
 * @param fewImages a class with fewer readable images is small
 * @param flatRange largest range of every channel for an image to count as a single colour
 */
public record AuditOptions(
        int hashDistance,
        double difference,
        int tinySide,
        int inputSide,
        double extremeAspect,
        double imbalance,
        int fewImages,
        int flatRange) {
    /** Largest distance at which {@link Audit} finds all pairs. */
    static final int MOST_BITS = 7;

    /**
     * The default thresholds and their reasons.
     *
     * <ul>
     *   <li>7 bits and 0.12: of 550 images of FMD and DTD, copies compressed at quality 0.75 or halved in size stayed
     *       within both in at least 98 of 100 cases; of all 2,200, ten pairs that look the same were within 0.05, and no
     *       other pair came nearer than 0.21. The thresholds were chosen on these images.
     *   <li>64 pixels: enlarged to 224, more than 9 of 10 pixels are interpolated.
     *   <li>224 pixels: the input of ImageNet's networks.
     *   <li>3:1: a square crop sees a third of the image, squeezing it into a square distorts its texture as much.
     *   <li>10:1: the usual line in work on long-tailed classes; beyond it plain accuracy misleads.
     *   <li>10 images: below that a class has one image or none in a tenth held out.
     *   <li>4 of 255: what compression makes of a single colour.
     * </ul>
     */
    public static final AuditOptions DEFAULT = new AuditOptions(MOST_BITS, 0.12, 64, 224, 3, 10, 10, 4);
}
