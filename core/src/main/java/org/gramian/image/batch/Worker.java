package org.gramian.image.batch;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ObjIntConsumer;
import org.gramian.image.Picture;
import org.gramian.image.Reading.Readable;
import org.gramian.image.Reading.Unreadable;
import org.gramian.image.dataset.Sample;
import org.gramian.tensor.Niceness;

/**
 * One thread's work: takes the next picture, decodes it, writes its crops where they belong, until there is none left.
 *
 * <p>There are two kinds of threads, which take turns. While the taker waits for pictures, ordinary ones decode. While it
 * computes, on the same cores perhaps, those decode that give way to everything else: in the moments when a core of the
 * computation has nothing to do. Were they alone, a machine that is busy otherwise would never let them come to an end.
 */
final class Worker {
    private final Rendering rendering;
    private final List<Work> list;
    private final BatchQueue queue;
    /** The number of each picture's first crop. */
    private final long[] starts;
    /** The picture that is next. */
    private final AtomicInteger next = new AtomicInteger();

    /** A worker that any number of threads may run at once. */
    Worker(Rendering rendering, List<Work> list, BatchQueue queue) {
        this.rendering = rendering;
        this.list = list;
        this.queue = queue;
        this.starts = new long[list.size()];
        for (int i = 1; i < starts.length; i++) {
            starts[i] = starts[i - 1] + list.get(i - 1).crops().size();
        }
    }

    /** While the taker waits. */
    void whileAwaited() {
        decode(true);
    }

    /** While the taker computes; this thread gives way to all others from now on. */
    void meanwhile() {
        Niceness.nicest();
        decode(false);
    }

    private void decode(boolean awaited) {
        try {
            while (queue.turn(awaited)) {
                int index = next.getAndIncrement();
                if (index >= list.size()) {
                    return;
                }
                load(index);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt(); // only the loader interrupts, after it stopped the queue
        } catch (Throwable thrown) { // whatever it is, the taker must not wait for ever
            queue.stop(thrown);
        }
    }

    private void load(int index) throws InterruptedException {
        Sample sample = list.get(index).sample();
        switch (rendering.crops().seen(rendering.reader().apply(sample.file()), sample)) {
            case Unreadable problem -> leaveOut(index, problem);
            case Readable(Picture picture, var _) -> write(index, picture);
        }
    }

    private void leaveOut(int index, Unreadable problem) throws InterruptedException {
        fill(index, Optional.of(problem), (slot, _) -> slot.fill((byte) 0));
    }

    private void write(int index, Picture picture) throws InterruptedException {
        Work work = list.get(index);
        fill(index, Optional.empty(), rendering.writer(picture, work.sample().name(), work.crops()));
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
