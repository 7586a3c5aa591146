package org.gramian.image.audit.finding;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Set;
import org.gramian.basis.Sha256;
import org.gramian.image.Image;
import org.gramian.image.ImageInfo;
import org.gramian.image.ReadResult;
import org.gramian.image.crop.Crops;

/**
 * What the audit keeps of one readable image, about a kilobyte; also for audits that run on a cluster.
 *
 * @param digest 32 hexadecimal digits, half of the SHA-256 of size and pixels; equal for images with equal pixels
 */
public record ImageFacts(
        int index, int width, int height, ImageInfo origin, int range, String digest, ImageSignature signature) {
    private static final int DIGEST_BYTES = 16;

    public static ImageFacts of(ReadResult.Readable readable) {
        return of(0, readable);
    }

    static ImageFacts of(int index, ReadResult.Readable readable) {
        Image image = readable.image();
        return new ImageFacts(
                index,
                image.width(),
                image.height(),
                readable.origin(),
                range(image.rgb()),
                digest(image),
                ImageSignature.of(image));
    }

    public Set<ImageIssue> issues(String name) {
        Set<ImageIssue> found = EnumSet.allOf(ImageIssue.class);
        found.removeIf(issue -> !issue.applies(this, name));
        return found;
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

    private static String digest(Image image) {
        MessageDigest sha = Sha256.digest();
        sha.update(ByteBuffer.allocate(2 * Integer.BYTES)
                .putInt(image.width())
                .putInt(image.height())
                .flip());
        return HexFormat.of().formatHex(Arrays.copyOf(sha.digest(image.rgb()), DIGEST_BYTES));
    }
}
