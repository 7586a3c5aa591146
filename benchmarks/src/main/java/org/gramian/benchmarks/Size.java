package org.gramian.benchmarks;

/**
 * How large the workloads are.
 *
 * <p>Channels and side are those of the feature maps that the head reads, width and pixels those of VGG-16: channels of its
 * first layer and side of the picture. Pictures are how many files are decoded.
 */
enum Size {
    /** The paper's: 512 maps of 14×14, pictures of 224×224. */
    FULL(32, 512, 14, 47, 8, 64, 224, 150),
    /** Fractions of a second, for the tests. */
    TINY(3, 12, 4, 5, 2, 2, 32, 5);

    final int headBatch;
    final int channels;
    final int side;
    final int classes;
    final int vggBatch;
    final int width;
    final int pixels;
    final int pictures;

    Size(int headBatch, int channels, int side, int classes, int vggBatch, int width, int pixels, int pictures) {
        this.headBatch = headBatch;
        this.channels = channels;
        this.side = side;
        this.classes = classes;
        this.vggBatch = vggBatch;
        this.width = width;
        this.pixels = pixels;
        this.pictures = pictures;
    }
}
