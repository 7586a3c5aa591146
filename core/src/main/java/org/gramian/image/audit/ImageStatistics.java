package org.gramian.image.audit;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import org.gramian.basis.Sha256;
import org.gramian.image.Image;
import org.gramian.image.ImageInfo;
import org.gramian.image.ReadResult;
import org.gramian.image.crop.Crops;

/**
 * Statistics of one readable image, about a kilobyte.
 *
 * @param index its index in the dataset
 * @param width columns, upright
 * @param height rows, upright
 * @param origin format and colours of its file
 * @param range the largest range of values of any channel
 * @param digest equal for images with equal pixels
 * @param signature for near-duplicates
 */
record ImageStatistics(
        int index, int width, int height, ImageInfo origin, int range, Digest digest, ImageSignature signature) {
    /** Half of the SHA-256 of size and pixels. */
    record Digest(long high, long low) {}

    static ImageStatistics of(int index, ReadResult.Readable readable) {
        Image image = readable.image();
        return new ImageStatistics(
                index,
                image.width(),
                image.height(),
                readable.origin(),
                range(image.rgb()),
                digest(image),
                ImageSignature.of(image));
    }

    int shortSide() {
        return Math.min(width, height);
    }

    /** Long side over short side. */
    double aspect() {
        return (double) Math.max(width, height) / shortSide();
    }

    /** Returns whether crops that keep the aspect ratio reject it. */
    boolean tooThin() {
        return Crops.tooThin(width, height);
    }

    boolean turned() {
        return origin.orientation() != 1;
    }

    private static int range(byte[] rgb) {
        int range = 0;
        for (int channel = 0; channel < 3; channel++) {
            int least = 255;
            int most = 0;
            for (int i = channel; i < rgb.length; i += 3) {
                int value = rgb[i] & 0xff;
                least = Math.min(least, value);
                most = Math.max(most, value);
            }
            range = Math.max(range, most - least);
        }
        return range;
    }

    private static Digest digest(Image image) {
        MessageDigest sha = Sha256.digest();
        sha.update(ByteBuffer.allocate(2 * Integer.BYTES)
                .putInt(image.width())
                .putInt(image.height())
                .flip());
        ByteBuffer sum = ByteBuffer.wrap(sha.digest(image.rgb()));
        return new Digest(sum.getLong(), sum.getLong());
    }
}
