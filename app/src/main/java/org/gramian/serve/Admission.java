package org.gramian.serve;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Counts what was taken on and refuses what would be too much, so that memory stays bounded however many ask.
 *
 * <p>A request asks for room for bytes as they come or are about to be made, and names its pictures once they are known; what
 * it holds is given back when its ticket is closed. What a body only announces is not counted: whoever announces much and sends
 * nothing would keep others out.
 */
final class Admission {
    /** Of the memory that Java may take, the part that requests may: pictures that are decoded and crops need the rest. */
    private static final long SHARE_OF_MEMORY = 8;

    private static final long LONGEST_RETRY_SECONDS = 60;

    private final Lock lock = new ReentrantLock();
    private final Condition empty = lock.newCondition();
    private final long mostBytes;
    private final int mostPictures;
    private long bytes;
    private int pictures;
    private int requests;
    private boolean closed;
    private double secondsPerPicture;

    Admission(Limits limits) {
        this.mostBytes =
                Math.max(2L * limits.upload().bytes(), Runtime.getRuntime().maxMemory() / SHARE_OF_MEMORY);
        this.mostPictures = limits.load().pictures();
    }

    /** A request's share; closing it gives everything back. */
    final class Ticket implements AutoCloseable {
        private long ownBytes;
        private int ownPictures;
        private boolean returned;

        private Ticket() {}

        /** Asks for room for so many bytes more; any thread may, for as long as the request lasts. */
        void bytes(long more) throws Refusal {
            lock.lock();
            try {
                // A request that is larger than all the room is served when it is alone.
                if (returned || (bytes > ownBytes && bytes + more > mostBytes)) {
                    throw busy();
                }
                ownBytes += more;
                bytes += more;
            } finally {
                lock.unlock();
            }
        }

        /** Asks for room for so many pictures. */
        void pictures(int count) throws Refusal {
            lock.lock();
            try {
                // A request that is larger than the whole queue is served when it is alone.
                if (pictures > 0 && pictures + count > mostPictures) {
                    throw busy();
                }
                ownPictures += count;
                pictures += count;
            } finally {
                lock.unlock();
            }
        }

        /** What it has room for. */
        long bytes() {
            lock.lock();
            try {
                return ownBytes;
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void close() {
            lock.lock();
            try {
                returned = true;
                bytes -= ownBytes;
                pictures -= ownPictures;
                requests--;
                if (requests == 0) {
                    empty.signalAll();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    /** Takes a request on, where there is room for anything. */
    Ticket enter() throws Refusal {
        lock.lock();
        try {
            if (closed) {
                throw Refusal.stopping();
            }
            if (pictures >= mostPictures || bytes >= mostBytes) {
                throw busy();
            }
            requests++;
            return new Ticket();
        } finally {
            lock.unlock();
        }
    }

    private Refusal busy() {
        long seconds = (long) Math.ceil(pictures * secondsPerPicture);
        return Refusal.busy(
                "there is more to do than this server takes on (" + pictures + " of " + mostPictures
                        + " pictures, " + (bytes >> 20) + " of " + (mostBytes >> 20)
                        + " MiB); ask again after the time in Retry-After",
                Math.clamp(seconds, 1, LONGEST_RETRY_SECONDS));
    }

    /** Tells how long pictures took: what the time after which to ask again is reckoned from. */
    void computed(int count, Duration time) {
        lock.lock();
        try {
            double seconds = time.toNanos() / 1e9 / count;
            secondsPerPicture = secondsPerPicture == 0 ? seconds : 0.9 * secondsPerPicture + 0.1 * seconds;
        } finally {
            lock.unlock();
        }
    }

    /** Pictures that were taken on and are not answered. */
    int waiting() {
        lock.lock();
        try {
            return pictures;
        } finally {
            lock.unlock();
        }
    }

    /** Whether no more requests are taken. */
    boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    /** Takes no more requests, and waits for those that were taken on, but not longer than told. */
    boolean drain(Duration longest) {
        lock.lock();
        try {
            closed = true;
            long left = longest.toNanos();
            while (requests > 0 && left > 0) {
                left = empty.awaitNanos(left);
            }
            return requests == 0;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }
}
