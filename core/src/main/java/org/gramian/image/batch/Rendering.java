package org.gramian.image.batch;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.function.Function;
import java.util.function.ObjIntConsumer;
import org.gramian.image.Picture;
import org.gramian.image.Reading;
import org.gramian.image.crop.Covered;
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
    public long bytes() {
        return 3L * crops.size() * crops.size() * Float.BYTES;
    }

    /**
     * Writes all crops of one picture, {@code [crops, 3, size, size]}.
     *
     * @param picture what crops are taken from
     * @param target {@code crops.count()} times {@link #bytes}
     * @throws IllegalArgumentException if there are no crops of such a picture, see {@link Crops#refusal}
     */
    public void write(Picture picture, String name, MemorySegment target) {
        ObjIntConsumer<MemorySegment> writer = writer(picture, name);
        for (int crop = 0; crop < crops.count(); crop++) {
            writer.accept(target.asSlice(crop * bytes(), bytes()), crop);
        }
    }

    /** Scales a picture once and writes its crops, by their numbers, where it is told. */
    ObjIntConsumer<MemorySegment> writer(Picture picture, String name) {
        Covered covered = Covered.of(picture, crops.of(picture.width(), picture.height(), name));
        return (slot, crop) ->
                preprocessing.write(covered.part(), covered.crops().get(crop), slot);
    }
}
