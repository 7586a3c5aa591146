package org.gramian.image.batch;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.gramian.image.Image;
import org.gramian.image.ImageFormat;
import org.gramian.image.ImageInfo;
import org.gramian.image.ReadResult;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Readable;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.dataset.Sample;

/** Made-up images without files: the name of each decides its pixels, and a name with {@code bad} cannot be read. */
final class Images {
    /** Short side of the images: that of crops of size 7, so that nothing is resized. */
    static final int SIDE = 8;

    private Images() {}

    static List<Sample> samples(int count) {
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String name = i % 10 == 3 ? "bad" + i : "good" + i;
            samples.add(new Sample(name, i % 5, Path.of(name)));
        }
        return samples;
    }

    static ReadResult read(Path file) {
        String name = file.toString();
        if (name.contains("bad")) {
            return new Unreadable(Problem.CORRUPT, name + " is made up to be bad");
        }
        byte[] rgb = new byte[3 * SIDE * SIDE];
        new SplittableRandom(name.hashCode()).nextBytes(rgb);
        ImageInfo origin = new ImageInfo(ImageFormat.PNG, ImageInfo.Colour.RGB, 8, SIDE, SIDE, 1);
        return new Readable(new Image(SIDE, SIDE, rgb), origin);
    }
}
