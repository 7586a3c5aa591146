package org.gramian.image.batch;

import java.nio.file.Path;
import java.util.function.Function;
import org.gramian.image.Reading;
import org.gramian.image.crop.Crops;
import org.gramian.image.crop.Preprocessing;

/**
 * How the file of a picture becomes arrays of numbers.
 *
 * @param reader decodes a file; called by many threads at once
 * @param crops what is cut from a picture
 * @param preprocessing what the bytes become
 */
public record Rendering(Function<Path, Reading> reader, Crops crops, Preprocessing preprocessing) {
    /** Bytes of one crop: {@code [3, size, size]} in single precision. */
    long bytes() {
        return 3L * crops.size() * crops.size() * Float.BYTES;
    }
}
