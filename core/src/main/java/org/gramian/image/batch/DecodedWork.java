package org.gramian.image.batch;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.ObjIntConsumer;
import org.gramian.image.Image;
import org.gramian.image.ReadResult.Readable;
import org.gramian.image.ReadResult.Unreadable;

/** Decodes an image and writes its crops into their batches. */
final class DecodedWork implements Worker.Loading {
    private final Rendering rendering;
    private final IntFunction<ImageSource> images;
    private final IntFunction<List<Integer>> crops;
    private final BatchQueue queue;
    /** The number of each image's first crop. */
    private final long[] starts;

    /**
     * @param images the image at an index
     * @param crops indices of the crops that are loaded of the image at an index
     */
    DecodedWork(
            Rendering rendering,
            int count,
            IntFunction<ImageSource> images,
            IntFunction<List<Integer>> crops,
            BatchQueue queue) {
        this.rendering = rendering;
        this.images = images;
        this.crops = crops;
        this.queue = queue;
        this.starts = new long[count];
        for (int i = 1; i < starts.length; i++) {
            starts[i] = starts[i - 1] + crops.apply(i - 1).size();
        }
    }

    @Override
    public void load(int index) throws InterruptedException {
        ImageSource source = images.apply(index);
        switch (rendering.crops().seen(source.reader().get(), source.box())) {
            case Unreadable problem -> leaveOut(index, problem);
            case Readable(Image image, var _) ->
                fill(index, Optional.empty(), rendering.writer(image, source.name(), crops.apply(index)));
        }
    }

    private void leaveOut(int index, Unreadable problem) throws InterruptedException {
        fill(index, Optional.of(problem), (slot, _) -> slot.fill((byte) 0));
    }

    /** @param content told where each of the wanted crops goes, and its place among them */
    private void fill(int index, Optional<Unreadable> problem, ObjIntConsumer<MemorySegment> content)
            throws InterruptedException {
        List<Integer> wanted = crops.apply(index);
        for (int place = 0; place < wanted.size(); place++) {
            long number = starts[index] + place;
            Optional<MemorySegment> slot = queue.slot(number);
            if (slot.isEmpty()) {
                return;
            }
            content.accept(slot.get(), place);
            queue.filled(number, new Place(index, wanted.get(place), problem));
        }
    }
}
