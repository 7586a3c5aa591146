package org.gramian.image;

import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.Sample.Box;

/**
 * A named image that is decoded when it is needed: a file, bytes in memory, or anything else that can be read.
 *
 * @param name for messages and results; crops drawn at random depend on it
 * @param box bounding box of the object, for crops that are taken from it
 * @param reader decodes the image; called once, by a decoding thread
 * @since 0.1
 */
public record ImageSource(String name, Optional<Box> box, Supplier<ReadResult> reader) {
    private static final ImageReader READER = new ImageReader(ImageLimits.DEFAULT);

    /** Returns the source of an image file, read within the default limits. */
    public static ImageSource of(Path file) {
        return of(file.toString(), () -> READER.read(file));
    }

    /** Returns the source of an image file's content, read within the default limits. */
    public static ImageSource of(String name, byte[] content) {
        return of(name, () -> READER.read(content));
    }

    /** Returns the source of an image without a box that a function reads. */
    public static ImageSource of(String name, Supplier<ReadResult> reader) {
        return new ImageSource(name, Optional.empty(), reader);
    }

    /** Returns the source of a dataset's image, with its box. */
    public static ImageSource of(Sample sample, Function<Path, ReadResult> reader) {
        return new ImageSource(sample.name(), sample.box(), () -> reader.apply(sample.file()));
    }
}
