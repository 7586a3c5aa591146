package org.gramian.serve;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Counts what was taken on and refuses what would be too much, so that memory stays bounded and what is taken on is answered in
 * time, however many ask.
 *
 * <p>A request asks for room for bytes as they come or are about to be made, and names its images once they are known; what
 * it holds is given back when its ticket is closed. What a body only announces is not counted: whoever announces much and sends
 * nothing would keep others out.
 */
final class Admission {
    /** Of the memory that Java may take, the part that requests may: images that are decoded and crops need the rest. */
    private static final long SHARE_OF_MEMORY = 8;

    private static final long LONGEST_RETRY_SECONDS = 60;

    /** Of the time for an answer, the part that everything that waits may take: the rest is for what takes longer than usual. */
    private static final double SHARE_OF_TIME = 0.8;

    /** The part of it that explanations may take, since the predictions of those who come later go between them. */
    private static final double SHARE_OF_EXPLANATIONS = 0.5;

    private final Lock lock = new ReentrantLock();
    private final Condition empty = lock.newCondition();
    private final long mostBytes;
    private final int mostImages;
    private final double answerSeconds;
    private final ComputeTimes pace;
    private long bytes;
    private int images;
    private int explanations;
    private int requests;
    private boolean closed;

    Admission(Limits limits) {
        this.mostBytes =
                Math.max(2L * limits.upload().bytes(), Runtime.getRuntime().maxMemory() / SHARE_OF_MEMORY);
        this.mostImages = limits.load().images();
        this.answerSeconds = ComputeTimes.seconds(limits.load().answer());
        this.pace = new ComputeTimes(limits);
    }

    /** A request's share; closing it gives everything back. */
    final class Ticket implements AutoCloseable {
        private long ownBytes;
        private int ownImages;
        private int ownExplanations;
        private boolean returned;

        private Ticket() {}

        /** Asks for room for so many bytes more; any thread may, for as long as the request lasts. */
        void bytes(long more) throws HttpError {
            lock.lock();
            try {
                // A request that is larger than all the room is served when it is alone.
                if (returned || (bytes > ownBytes && bytes + more > mostBytes)) {
                    throw busy(pace.known(images, explanations));
                }
                ownBytes += more;
                bytes += more;
            } finally {
                lock.unlock();
            }
        }

        /** Asks for room for so many images, and time for so many of them to be explained. */
        void images(int count, int toExplain) throws HttpError {
            lock.lock();
            try {
                requirePossible(count, toExplain);
                double all = pace.known(images + count, explanations + toExplain) - SHARE_OF_TIME * answerSeconds;
                double later = pace.known(0, explanations + toExplain) - SHARE_OF_EXPLANATIONS * answerSeconds;
                boolean late = all > 0 || (explanations > 0 && isLate(toExplain));
                // A request that is larger than the whole queue is served when it is alone.
                if (images > 0 && (images + count > mostImages || late)) {
                    throw busy(late ? Math.max(all, later) : pace.known(images, explanations));
                }
                ownImages += count;
                images += count;
                ownExplanations += toExplain;
                explanations += toExplain;
            } finally {
                lock.unlock();
            }
        }

        /** Tells that one of its explanations is there, and how long it took. */
        void explained(Duration time) {
            lock.lock();
            try {
                pace.explanation(time);
                if (!returned) {
                    ownExplanations--;
                    explanations--;
                }
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
                images -= ownImages;
                explanations -= ownExplanations;
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
    Ticket enter() throws HttpError {
        lock.lock();
        try {
            if (closed) {
                throw HttpError.stopping();
            }
            if (images >= mostImages || bytes >= mostBytes) {
                throw busy(pace.known(images, explanations));
            }
            requests++;
            return new Ticket();
        } finally {
            lock.unlock();
        }
    }

    /** Refuses what would not be answered in time were it alone; a single image is tried, for how long it takes may change. */
    private void requirePossible(int count, int toExplain) throws HttpError {
        double whole = pace.known(count, toExplain);
        if (count > 1 && whole > answerSeconds) {
            throw new HttpError(
                    413,
                    "too-large",
                    "expected at most " + Math.max(1, (int) (count * answerSeconds / whole))
                            + " images per request of this type, " + "found " + count
                            + ": more do not fit into the time limit of " + Math.round(answerSeconds) + " s");
        }
    }

    /** Whether so many explanations more would be done too late; what they take is guessed where it is not known. */
    private boolean isLate(int toExplain) {
        return toExplain > 0 && pace.ofExplanations(explanations + toExplain) > SHARE_OF_EXPLANATIONS * answerSeconds;
    }

    private HttpError busy(double seconds) {
        return HttpError.busy(
                "the server is overloaded (queued: " + images + " of " + mostImages + " images, "
                        + explanations + " explanations, " + (bytes >> 20) + " of " + (mostBytes >> 20)
                        + " MiB, about " + Math.round(pace.known(images, explanations))
                        + " s of work with a time limit of " + Math.round(answerSeconds)
                        + " s); retry after the time in Retry-After",
                Math.clamp((long) Math.ceil(seconds), 1, LONGEST_RETRY_SECONDS));
    }

    /** Tells how long images took: what the time after which to ask again is reckoned from. */
    void computed(int count, Duration time) {
        lock.lock();
        try {
            pace.images(count, time);
        } finally {
            lock.unlock();
        }
    }

    /** Images that were taken on and are not answered. */
    int waiting() {
        lock.lock();
        try {
            return images;
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
