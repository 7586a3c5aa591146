package org.gramian.image.batch;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.function.ObjIntConsumer;
import org.gramian.image.Image;
import org.gramian.image.ReadResult.Readable;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.dataset.Sample;

/** Decodes the image of a {@link Work} and writes its crops into their batches. */
final class DecodedWork implements Worker.Loading {
    private final Rendering rendering;
    private final List<Work> list;
    private final BatchQueue queue;
    /** The number of each image's first crop. */
    private final long[] starts;

    DecodedWork(Rendering rendering, List<Work> list, BatchQueue queue) {
        this.rendering = rendering;
        this.list = list;
        this.queue = queue;
        this.starts = new long[list.size()];
        for (int i = 1; i < starts.length; i++) {
            starts[i] = starts[i - 1] + list.get(i - 1).crops().size();
        }
    }

    @Override
    public void load(int index) throws InterruptedException {
        Sample sample = list.get(index).sample();
        switch (rendering.crops().seen(rendering.reader().apply(sample.file()), sample)) {
            case Unreadable problem -> leaveOut(index, problem);
            case Readable(Image image, var _) -> write(index, image);
        }
    }

    private void leaveOut(int index, Unreadable problem) throws InterruptedException {
        fill(index, Optional.of(problem), (slot, _) -> slot.fill((byte) 0));
    }

    private void write(int index, Image image) throws InterruptedException {
        Work work = list.get(index);
        fill(index, Optional.empty(), rendering.writer(image, work.sample().name(), work.crops()));
    }

    /** @param content told where each of the wanted crops goes, and its place among them */
    private void fill(int index, Optional<Unreadable> problem, ObjIntConsumer<MemorySegment> content)
            throws InterruptedException {
        List<Integer> crops = list.get(index).crops();
        for (int place = 0; place < crops.size(); place++) {
            long number = starts[index] + place;
            Optional<MemorySegment> slot = queue.slot(number);
            if (slot.isEmpty()) {
                return;
            }
            content.accept(slot.get(), place);
            queue.filled(number, new Place(index, crops.get(place), problem));
        }
    }
}
