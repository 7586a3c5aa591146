package org.gramian.image.vp8;

/**
 * Upsamples chroma and converts YUV to RGB, bit-identical to libwebp.
 *
 * <p>Chroma is interpolated with the weights {@code 9, 3, 3, 1} of sixteen for the four samples around a pixel, nearest first;
 * samples beyond the border of the image are replaced by the nearest ones. The conversion is ITU-R BT.601 with luma from 16 to
 * 235, in fixed point:
 *
 * <pre>
 * R = 1.164 (Y − 16) + 1.596 (V − 128)
 * G = 1.164 (Y − 16) − 0.392 (U − 128) − 0.813 (V − 128)
 * B = 1.164 (Y − 16) + 2.017 (U − 128)
 * </pre>
 *
 * <p>RFC 6386, section 9.2, names the colour space and leaves the rest to the decoder.
 */
final class YuvToRgb {
    private final int width;
    private final int height;

    YuvToRgb(int width, int height) {
        this.width = width;
        this.height = height;
    }

    /** Returns RGB, {@code [height, width, 3]}. */
    byte[] convert(Plane luma, Plane chromaU, Plane chromaV) {
        byte[] rgb = new byte[Math.multiplyExact(3, Math.multiplyExact(width, height))];
        byte[] rowU = new byte[width + 1];
        byte[] rowV = new byte[width + 1];
        for (int y = 0; y < height; y++) {
            upsample(chromaU, y, rowU);
            upsample(chromaV, y, rowV);
            int from = luma.at(0, y);
            int to = 3 * width * y;
            for (int x = 0; x < width; x++, to += 3) {
                int light = ((luma.samples()[from + x] & 0xff) * 19_077) >> 8;
                int u = rowU[x] & 0xff;
                int v = rowV[x] & 0xff;
                rgb[to] = rounded(light + ((v * 26_149) >> 8) - 14_234);
                rgb[to + 1] = rounded(light - ((u * 6_419) >> 8) - ((v * 13_320) >> 8) + 8_708);
                rgb[to + 2] = rounded(light + ((u * 33_050) >> 8) - 17_685);
            }
        }
        return rgb;
    }

    private static byte rounded(int value) {
        return (byte) Plane.clamp(value >> 6);
    }

    /** Computes the chroma of each pixel of a row. */
    private void upsample(Plane plane, int y, byte[] row) {
        int last = (height - 1) >> 1;
        int nearRow = y >> 1;
        int near = plane.at(0, nearRow);
        int far = plane.at(0, Math.clamp((y & 1) == 0 ? nearRow - 1 : nearRow + 1, 0, last));
        byte[] samples = plane.samples();
        int nearLeft = samples[near] & 0xff;
        int farLeft = samples[far] & 0xff;
        row[0] = (byte) ((3 * nearLeft + farLeft + 2) >> 2);
        int pairs = (width - 1) >> 1;
        for (int x = 1; x <= pairs; x++) {
            int nearRight = samples[near + x] & 0xff;
            int farRight = samples[far + x] & 0xff;
            int sum = nearLeft + nearRight + farLeft + farRight + 8;
            // Half of the diagonal mean plus half of the nearest sample, both rounded as in libwebp.
            int rising = (sum + 2 * (nearRight + farLeft)) >> 3;
            int falling = (sum + 2 * (nearLeft + farRight)) >> 3;
            row[2 * x - 1] = (byte) ((rising + nearLeft) >> 1);
            row[2 * x] = (byte) ((falling + nearRight) >> 1);
            nearLeft = nearRight;
            farLeft = farRight;
        }
        // With an even width the last pixel has no chroma sample to its right.
        row[2 * pairs + 1] = (byte) ((3 * nearLeft + farLeft + 2) >> 2);
    }
}
