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
import org.gramian.image.resize.Resize;

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
     */
    public void write(Image image, String name, MemorySegment target) {
        List<Integer> all = IntStream.range(0, crops.count()).boxed().toList();
        ObjIntConsumer<MemorySegment> writer = writer(image, name, all);
        for (int crop : all) {
            writer.accept(target.asSlice(crop * bytes(), bytes()), crop);
        }
    }

    /** Resizes the area that some crops of an image cover, once; returns what writes the crop at an index of the list to a slot. */
    ObjIntConsumer<MemorySegment> writer(Image image, String name, List<Integer> wanted) {
        List<Crop> all = crops.of(image.width(), image.height(), name);
        CropRegion region = CropRegion.of(image, wanted.stream().map(all::get).toList());
        return (slot, crop) -> preprocessing.write(region.part(), region.crops().get(crop), slot);
    }

    /**
     * Resized region of an image that contains all its crops, which are relative to it. Resizing only this region saves time: a
     * centre crop of 224 pixels covers 57 % of a 4:3 image whose short side is resized to 256.
     */
    record CropRegion(Image part, List<Crop> crops) {
        /** Resizes the bounding box of the crops, all of one resized size; they have the same pixels as with {@link Crop#scale}. */
        static CropRegion of(Image image, List<Crop> crops) {
            Crop first = crops.getFirst();
            if (first.fits(image)) {
                return new CropRegion(image, crops);
            }
            int left = crops.stream().mapToInt(Crop::left).min().orElseThrow();
            int top = crops.stream().mapToInt(Crop::top).min().orElseThrow();
            int width = crops.stream()
                            .mapToInt(crop -> crop.left() + crop.size())
                            .max()
                            .orElseThrow()
                    - left;
            int height = crops.stream()
                            .mapToInt(crop -> crop.top() + crop.size())
                            .max()
                            .orElseThrow()
                    - top;
            Image part = Resize.part(image, first.width(), first.height(), new Resize.Window(left, top, width, height));
            return new CropRegion(
                    part,
                    crops.stream()
                            .map(crop -> new Crop(
                                    width, height, crop.left() - left, crop.top() - top, crop.size(), crop.mirrored()))
                            .toList());
        }
    }
}
