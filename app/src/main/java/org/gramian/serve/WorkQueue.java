package org.gramian.serve;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Work that waits to be computed, handed out in batches: what waits longest, and with it all that can be computed together.
 *
 * <p>Nobody waits for a batch to fill: while one is computed the next gathers, and when little is to do it is done at once.
 *
 * <p>What is computed alone takes turns with batches, so that those who want a prediction do not wait for all explanations of
 * others; what was promised for earlier is done first, and before any batch once half of its time is over.
 */
final class WorkQueue {
    private final Lock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Queue<Work.Crops> crops = new ArrayDeque<>();
    private final Queue<Work.Alone> alone = new ArrayDeque<>();
    private final int batch;
    private boolean closed;
    private boolean wasAlone;

    /** @param batch most crops of a batch; an image that has more makes a batch of its own */
    WorkQueue(int batch) {
        this.batch = batch;
    }

    void add(Work work) {
        lock.lock();
        try {
            if (closed) {
                work.fail(HttpError.stopping());
                work.lease().close();
                return;
            }
            switch (work) {
                case Work.Crops one -> crops.add(one);
                case Work.Alone one -> alone.add(one);
            }
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
                crops.removeIf(WorkQueue::isDropped);
                alone.removeIf(WorkQueue::isDropped);
                if (!crops.isEmpty() || !alone.isEmpty()) {
                    return next();
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

    private List<Work> next() {
        List<Work> taken = new ArrayList<>(); // before anything is removed, for there may be no memory
        Optional<Work.Alone> first =
                alone.stream().min(Comparator.comparingLong(work -> work.end().nanos()));
        wasAlone = first.isPresent()
                && (crops.isEmpty() || !wasAlone || first.get().end().isNear());
        if (wasAlone) {
            taken.add(first.orElseThrow());
            alone.remove(first.get());
        } else {
            batch(taken);
        }
        return taken;
    }

    private void batch(List<Work> taken) {
        Work.Crops first = crops.remove();
        taken.add(first);
        int room = batch - first.count();
        Iterator<Work.Crops> others = crops.iterator();
        while (room >= first.count() && others.hasNext()) {
            Work.Crops other = others.next();
            if (other.fits(first)) {
                taken.add(other);
                others.remove();
                room -= first.count();
            }
        }
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
