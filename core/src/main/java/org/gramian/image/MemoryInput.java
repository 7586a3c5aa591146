package org.gramian.image;

import javax.imageio.stream.ImageInputStreamImpl;

/**
 * The content of a file as input of a decoder, with a limit on the bytes read.
 *
 * <p>A malicious file can make a decoder read the same bytes repeatedly. Reads are counted against an allowance in multiples of
 * the file size, which does not depend on the machine; the {@link TimeLimit} comes on top.
 */
final class MemoryInput extends ImageInputStreamImpl {
    /** Headers are kept in memory, so the limit is low. */
    private static final int HEADER_READS = 2;
    /** Pixels are decoded and dropped; honest files share the data of empty tiles. */
    private static final int PIXEL_READS = 32;
    /** Allowance of small files. */
    private static final int FREE_BYTES = 1 << 20;

    /** Some decoders read the end as zeros without end. */
    private static final int MOST_ENDS = 100;

    /** Bytes between two checks of the time limit. */
    private static final int CLOCK_BYTES = 1 << 16;

    private final byte[] content;
    private final TimeLimit time;
    private long allowance;
    private long untilClock = CLOCK_BYTES;
    private int ends;
    private boolean overdrawn;

    MemoryInput(byte[] content, TimeLimit time) {
        this.content = content;
        this.time = time;
        allowance = FREE_BYTES + (long) HEADER_READS * content.length;
    }

    /** Resets the allowance for reading pixels. */
    void allowPixels() {
        allowance = FREE_BYTES + (long) PIXEL_READS * content.length;
        ends = 0;
    }

    /** Checks the time limit; returns whether the decoder has to stop. */
    boolean isOverdrawn() {
        overdrawn |= time.isOver();
        return overdrawn;
    }

    /** Returns whether a decoder read past the last byte since the start of the header or of the pixels. */
    boolean ended() {
        return ends > 0;
    }

    /** @throws UnreadableException if a decoder read more than its allowance, even if it then succeeded */
    void checkAllowance() throws UnreadableException {
        if (overdrawn) {
            throw TimeLimit.exceeded(content.length);
        }
    }

    /** @throws UnreadableException if the time is over or a decoder read more than its allowance */
    void checkTime() throws UnreadableException {
        overdrawn |= time.isOver();
        checkAllowance();
    }

    @Override
    public int read() throws UnreadableException {
        bitOffset = 0;
        if (streamPos >= content.length) {
            return end();
        }
        spend(1);
        return Byte.toUnsignedInt(content[(int) streamPos++]);
    }

    @Override
    public int read(byte[] into, int offset, int length) throws UnreadableException {
        bitOffset = 0;
        if (length == 0) {
            return 0;
        }
        if (streamPos >= content.length) {
            return end();
        }
        int count = (int) Math.min(length, content.length - streamPos);
        spend(count);
        System.arraycopy(content, (int) streamPos, into, offset, count);
        streamPos += count;
        return count;
    }

    @Override
    public long length() {
        return content.length;
    }

    private int end() throws UnreadableException {
        ends++;
        if (ends > MOST_ENDS) {
            throw UnreadableException.truncated(
                    "expected a complete file, found the end of its data after " + content.length + " bytes");
        }
        return -1;
    }

    private void spend(int bytes) throws UnreadableException {
        allowance -= bytes;
        untilClock -= bytes;
        if (untilClock < 0) {
            untilClock = CLOCK_BYTES;
            overdrawn |= time.isOver();
        }
        overdrawn |= allowance < 0;
        checkAllowance();
    }
}
