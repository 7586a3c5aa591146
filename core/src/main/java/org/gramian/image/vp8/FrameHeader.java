package org.gramian.image.vp8;

/**
 * Header fields of the first partition, before the macroblocks (RFC 6386, sections 9.2 to 9.11 and 19.2).
 *
 * @param segments kinds of macroblocks
 * @param filter how edges are smoothed
 * @param partitions number of partitions with coefficients
 * @param quantizers of each segment
 * @param probabilities of tokens, in the order of {@link DefaultProbabilities}
 * @param skipping probability that a macroblock has coefficients, or {@link #NO_SKIPPING}
 */
@SuppressWarnings("ArrayRecordComponent") // read only, and never compared
record FrameHeader(
        Segments segments,
        FilterSettings filter,
        int partitions,
        Quantizer[] quantizers,
        int[] probabilities,
        int skipping) {
    /** Marks frames whose macroblocks have no flag for missing coefficients. */
    static final int NO_SKIPPING = -1;

    static FrameHeader read(BoolReader bits) throws Vp8Exception {
        // The colour space has one value with a meaning; clamping is done whether or not the frame says it can be left
        // out.
        bits.number(2);
        Segments segments = Segments.read(bits);
        FilterSettings filter = FilterSettings.read(bits);
        int partitions = 1 << bits.number(2);
        Quantizer[] quantizers = Quantizer.read(bits, segments);
        // Whether the probabilities outlive this frame: there is no other.
        bits.number(1);
        int[] probabilities = probabilities(bits);
        int skipping = bits.flag() ? bits.number(8) : NO_SKIPPING;
        if (bits.isExhausted()) {
            throw Vp8Exception.truncated("expected a frame header, found the end of its partition");
        }
        return new FrameHeader(segments, filter, partitions, quantizers, probabilities, skipping);
    }

    /** The probabilities of tokens: those of the standard, but for those that the frame replaces (section 13.4). */
    private static int[] probabilities(BoolReader bits) {
        int[] probabilities = DefaultProbabilities.TABLE.clone();
        for (int i = 0; i < probabilities.length; i++) {
            if (bits.bit(UpdateProbabilities.TABLE[i]) != 0) {
                probabilities[i] = bits.number(8);
            }
        }
        return probabilities;
    }
}
