package org.gramian.image.vp8;

/**
 * The header of a key frame (RFC 6386, sections 9 and 19.2).
 *
 * @param segments per-segment settings
 * @param filter loop filter parameters
 * @param partitions number of partitions with coefficients
 * @param quantizers one for each segment
 * @param probabilities of tokens, in the order of {@link Tables#TOKENS}
 * @param skipping probability that a macroblock has coefficients, or {@link #NO_SKIPPING}
 */
@SuppressWarnings("ArrayRecordComponent") // read only, and never compared
record FrameHeader(
        Segments segments, Filter filter, int partitions, Quantizer[] quantizers, int[] probabilities, int skipping) {
    /** Marks frames whose macroblocks have no flag for missing coefficients. */
    static final int NO_SKIPPING = -1;

    static FrameHeader read(BoolDecoder bits) throws Vp8Exception {
        bits.number(2); // colour space, of which there is one, and clamping, which is always done
        Segments segments = Segments.read(bits);
        Filter filter = Filter.read(bits);
        int partitions = 1 << bits.number(2);
        Quantizer[] quantizers = Quantizer.read(bits, segments);
        bits.number(1); // whether later frames use the probabilities: there is no later frame
        int[] probabilities = Tables.TOKENS.clone();
        for (int i = 0; i < probabilities.length; i++) {
            if (bits.bit(Tables.TOKEN_UPDATES[i]) != 0) {
                probabilities[i] = bits.number(8);
            }
        }
        int skipping = bits.flag() ? bits.number(8) : NO_SKIPPING;
        if (bits.isExhausted()) {
            throw Vp8Exception.truncated("expected a frame header, found the end of its partition");
        }
        return new FrameHeader(segments, filter, partitions, quantizers, probabilities, skipping);
    }

    /**
     * The uncompressed ten bytes at the start of a key frame (section 9.1).
     *
     * @param firstPartition bytes of the first partition, which follows
     */
    record Tag(int firstPartition, int width, int height) {
        static final int BYTES = 10;

        private static final int START_CODE = 0x2a019d;
        private static final int MAX_PROFILE = 3;

        static Tag read(byte[] data, int from, int to) throws Vp8Exception {
            if (to - from < BYTES) {
                throw Vp8Exception.truncated("expected a frame of at least " + BYTES + " bytes, found " + (to - from));
            }
            int tag = u24(data, from);
            if ((tag & 1) != 0) {
                throw Vp8Exception.corrupt("expected a key frame, found an inter frame");
            }
            int profile = tag >> 1 & 7;
            if (profile > MAX_PROFILE) {
                throw Vp8Exception.corrupt("expected a profile of VP8 from 0 to " + MAX_PROFILE + ", found " + profile);
            }
            if ((tag >> 4 & 1) == 0) {
                throw Vp8Exception.corrupt("expected a visible frame, found a hidden one");
            }
            int code = u24(data, from + 3);
            if (code != START_CODE) {
                throw Vp8Exception.corrupt("expected the start code of a key frame, found 0x%06x".formatted(code));
            }
            // The two bits above each size are upscaling hints for display.
            int width = u24(data, from + 6) & 0x3fff;
            int height = u24(data, from + 7) >> 8 & 0x3fff;
            if (width == 0 || height == 0) {
                throw Vp8Exception.corrupt("expected at least one pixel, found " + width + "×" + height);
            }
            int first = tag >> 5;
            if (first > to - from - BYTES) {
                throw Vp8Exception.truncated(
                        "expected a first partition of " + first + " bytes, found " + (to - from - BYTES));
            }
            return new Tag(first, width, height);
        }

        /** Returns the number of macroblocks in a row. */
        int columns() {
            return Math.ceilDiv(width, Macroblock.SIDE);
        }

        /** Returns the number of rows of macroblocks. */
        int rows() {
            return Math.ceilDiv(height, Macroblock.SIDE);
        }

        static int u24(byte[] data, int at) {
            return (data[at] & 0xff) | (data[at + 1] & 0xff) << 8 | (data[at + 2] & 0xff) << 16;
        }
    }

    /**
     * Up to four segments of macroblocks, each with its own quantizer and filter level (section 9.3).
     *
     * @param used whether the frame has segments
     * @param mapped whether each macroblock names its segment
     * @param absolute whether quantizers and levels replace those of the frame, rather than being added to them
     * @param quantizers quantizer index of each segment
     * @param levels filter level of each segment
     * @param probabilities of the three nodes of the tree of segment numbers
     */
    @SuppressWarnings("ArrayRecordComponent") // read only, and never compared
    record Segments(
            boolean used, boolean mapped, boolean absolute, int[] quantizers, int[] levels, int[] probabilities) {
        static final int COUNT = 4;

        private static Segments read(BoolDecoder bits) {
            int[] quantizers = new int[COUNT];
            int[] levels = new int[COUNT];
            int[] probabilities = {255, 255, 255};
            boolean used = bits.flag();
            boolean mapped = used && bits.flag();
            boolean absolute = true;
            if (used && bits.flag()) {
                absolute = bits.flag();
                for (int i = 0; i < COUNT; i++) {
                    quantizers[i] = bits.optional(7);
                }
                for (int i = 0; i < COUNT; i++) {
                    levels[i] = bits.optional(6);
                }
            }
            for (int i = 0; mapped && i < probabilities.length; i++) {
                probabilities[i] = bits.flag() ? bits.number(8) : 255;
            }
            return new Segments(used, mapped, absolute, quantizers, levels, probabilities);
        }

        /** Reads the segment of the next macroblock (section 10). */
        int next(BoolDecoder bits) {
            if (!mapped) {
                return 0;
            }
            return bits.bit(probabilities[0]) == 0 ? bits.bit(probabilities[1]) : 2 + bits.bit(probabilities[2]);
        }

        /** Returns the value of a segment, given that of the frame; it may be out of range. */
        private int value(int[] values, int segment, int ofFrame) {
            if (!used) {
                return ofFrame;
            }
            return absolute ? values[segment] : values[segment] + ofFrame;
        }
    }

    /**
     * Loop filter parameters (sections 9.6 and 15.1).
     *
     * @param simple whether the simple filter is used, which filters luma only
     * @param level 0 to 63; 0 turns the filter off
     * @param sharpness 0 to 7
     * @param delta added to the level of every macroblock of a key frame
     * @param subblockDelta added to the level of a macroblock with subblock prediction
     */
    record Filter(boolean simple, int level, int sharpness, int delta, int subblockDelta) {
        private static final int MAX_LEVEL = 63;
        private static final int REFERENCE_FRAMES = 4;
        private static final int MODES = 4;

        private static Filter read(BoolDecoder bits) {
            boolean simple = bits.flag();
            int level = bits.number(6);
            int sharpness = bits.number(3);
            int[] deltas = new int[REFERENCE_FRAMES + MODES];
            boolean deltasUsed = bits.flag();
            if (deltasUsed && bits.flag()) {
                for (int i = 0; i < deltas.length; i++) {
                    deltas[i] = bits.optional(6);
                }
            }
            // The first delta by reference frame is that of key frames, the first by mode that of subblock prediction.
            return new Filter(simple, level, sharpness, deltas[0], deltas[REFERENCE_FRAMES]);
        }

        /**
         * Limits of the filter in a macroblock.
         *
         * @param edge largest difference across an inner edge that is filtered; 0 turns the filter off
         * @param interior largest difference between neighbours beside an edge
         * @param variance difference beside the edge above which only the two nearest samples change
         */
        record Limits(int edge, int interior, int variance) {}

        Limits limits(Segments segments, int segment, boolean subblocks) {
            int raw = segments.value(segments.levels, segment, level) + delta + (subblocks ? subblockDelta : 0);
            int strength = Math.clamp(raw, 0, MAX_LEVEL);
            if (strength == 0) {
                return new Limits(0, 0, 0);
            }
            int interior = strength;
            if (sharpness > 0) {
                interior = Math.min(interior >> (sharpness > 4 ? 2 : 1), 9 - sharpness);
            }
            interior = Math.max(interior, 1);
            int variance = strength >= 40 ? 2 : strength >= 15 ? 1 : 0;
            return new Limits(2 * strength + interior, interior, variance);
        }
    }

    /** Step sizes for dequantization (sections 9.6 and 14.1). */
    record Quantizer(Steps luma, Steps y2, Steps chroma) {
        private static final int MAX_INDEX = 127;
        private static final int MAX_CHROMA_DC_INDEX = 117;

        /** Step sizes of the DC coefficient and of the AC coefficients. */
        record Steps(int dc, int ac) {}

        private static Quantizer[] read(BoolDecoder bits, Segments segments) {
            int base = bits.number(7);
            int[] deltas = new int[5];
            for (int i = 0; i < deltas.length; i++) {
                deltas[i] = bits.optional(4);
            }
            Quantizer[] quantizers = new Quantizer[Segments.COUNT];
            for (int i = 0; i < quantizers.length; i++) {
                quantizers[i] = of(segments.value(segments.quantizers, i, base), deltas);
            }
            return quantizers;
        }

        private static Quantizer of(int index, int[] deltas) {
            Steps luma = new Steps(dc(index + deltas[0], MAX_INDEX), ac(index));
            Steps y2 = new Steps(2 * dc(index + deltas[1], MAX_INDEX), Math.max(8, ac(index + deltas[2]) * 155 / 100));
            Steps chroma = new Steps(dc(index + deltas[3], MAX_CHROMA_DC_INDEX), ac(index + deltas[4]));
            return new Quantizer(luma, y2, chroma);
        }

        private static int dc(int index, int max) {
            return Tables.DC_STEPS[Math.clamp(index, 0, max)];
        }

        private static int ac(int index) {
            return Tables.AC_STEPS[Math.clamp(index, 0, MAX_INDEX)];
        }
    }
}
