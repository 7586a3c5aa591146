package org.gramian.image.batch;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.function.ObjIntConsumer;
import java.util.stream.IntStream;
import org.gramian.image.Image;
import org.gramian.image.ReadResult;
import org.gramian.image.crop.Crop;
import org.gramian.image.crop.Crops;
import org.gramian.image.crop.Preprocessing;

/**
 * Converts image files to input arrays of a network.
 *
 * @param reader decodes a file; called by many threads at once
 */
public record Rendering(Function<Path, ReadResult> reader, Crops crops, Preprocessing preprocessing) {
    /** Returns the bytes of one crop, {@code [3, size, size]} in float32. */
    public long bytes() {
        return 3L * crops.size() * crops.size() * Float.BYTES;
    }

    /**
     * Writes all crops of one image, {@code [crops, 3, size, size]}.
     *
     * @param target {@code crops.count()} times {@link #bytes}
     * @throws IllegalArgumentException if there are no crops of such an image, see {@link Crops#refusal}
     */
    public void write(Image image, String name, MemorySegment target) {
        List<Integer> all = IntStream.range(0, crops.count()).boxed().toList();
        ObjIntConsumer<MemorySegment> writer = writer(image, name, all);
        for (int crop : all) {
            writer.accept(target.asSlice(crop * bytes(), bytes()), crop);
        }
    }

    /**
     * Resizes the area that some crops of an image cover, once, and writes each crop to its slot.
     *
     * @param wanted indexes of the crops
     * @return writes the crop at an index of that list to a slot
     */
    ObjIntConsumer<MemorySegment> writer(Image image, String name, List<Integer> wanted) {
        List<Crop> all = crops.of(image.width(), image.height(), name);
        CropRegion region = CropRegion.of(image, wanted.stream().map(all::get).toList());
        return (slot, crop) -> preprocessing.write(region.part(), region.crops().get(crop), slot);
    }
}
