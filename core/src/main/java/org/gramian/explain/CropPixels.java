package org.gramian.explain;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.gramian.image.Image;
import org.gramian.image.crop.Crop;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.Shape;

/**
 * The crops of an image as a network reads them, with one more that is all of the image's mean colour, if wanted.
 *
 * @param scaled the image at the size that all crops are cut from
 * @param crops windows of it
 * @param preprocessing what bytes become
 */
record CropPixels(Image scaled, List<Crop> crops, Preprocessing preprocessing) {
    /** What keeps crops aligned as libtorch likes them. */
    private static final long ALIGNMENT = 64;

    static CropPixels of(Image image, List<Crop> crops, Preprocessing preprocessing) {
        return new CropPixels(crops.getFirst().scale(image), crops, preprocessing);
    }

    /** The shape {@code [n, 3, s, s]}, of one crop more with the blank one. */
    Shape shape(boolean blank) {
        int size = crops.getFirst().size();
        return Shape.of(crops.size() + (blank ? 1 : 0), 3, size, size);
    }

    /** All crops one after another, the blank one last. */
    MemorySegment write(Arena arena, boolean blank) {
        Shape shape = shape(blank);
        MemorySegment memory = arena.allocate(shape.elements() * Float.BYTES, ALIGNMENT);
        long bytes = memory.byteSize() / shape.at(0);
        for (int i = 0; i < crops.size(); i++) {
            preprocessing.write(scaled, crops.get(i), memory.asSlice(i * bytes, bytes));
        }
        if (blank) {
            Image nothing = MeanColourMask.blank(scaled);
            preprocessing.write(nothing, crops.getFirst(), memory.asSlice(crops.size() * bytes, bytes));
        }
        return memory;
    }
}
