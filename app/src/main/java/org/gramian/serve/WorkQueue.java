package org.gramian.serve;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Work that waits to be computed, handed out in batches: what waits longest, and with it all that can be computed together.
 *
 * <p>Nobody waits for a batch to fill: while one is computed the next gathers, and when little is to do it is done at once.
 */
final class WorkQueue {
    private final Lock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Queue<Work> waiting = new ArrayDeque<>();
    private final int batch;
    private boolean closed;

    /** @param batch most crops of a batch; a picture that has more makes a batch of its own */
    WorkQueue(int batch) {
        this.batch = batch;
    }

    void add(Work work) {
        lock.lock();
        try {
            if (closed) {
                work.fail(Refusal.stopping());
                work.lease().close();
                return;
            }
            waiting.add(work);
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    /** The next batch, once there is something to do; empty when the queue is closed and nothing is left. */
    List<Work> take() throws InterruptedException {
        lock.lock();
        try {
            while (true) {
                waiting.removeIf(WorkQueue::isDropped);
                if (!waiting.isEmpty()) {
                    return batch();
                }
                if (closed) {
                    return List.of();
                }
                changed.await();
            }
        } finally {
            lock.unlock();
        }
    }

    private static boolean isDropped(Work work) {
        if (work.isDone()) {
            work.lease().close();
        }
        return work.isDone();
    }

    private List<Work> batch() {
        List<Work> taken = new ArrayList<>();
        Work first = waiting.remove(); // after the list, for which there may be no memory
        taken.add(first);
        if (first instanceof Work.Crops crops) {
            int room = batch - crops.count();
            Iterator<Work> others = waiting.iterator();
            while (room >= crops.count() && others.hasNext()) {
                if (others.next() instanceof Work.Crops other && other.fits(crops)) {
                    taken.add(other);
                    others.remove();
                    room -= crops.count();
                }
            }
        }
        return taken;
    }

    /** Takes nothing more; what waits is still handed out. */
    void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
