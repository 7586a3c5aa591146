package org.gramian.image;

import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;

/**
 * Lets many threads decode at once, and one alone where memory did not suffice for all: so that the number of threads does
 * not decide which images can be read.
 *
 * <p>Only decoding takes turns. Images that were decoded before stay in memory while their owners use them.
 */
final class DecodingPermits {
    /** Fair, so that a thread that waits for exclusive decoding is not starved. */
    private final ReadWriteLock lock = new ReentrantReadWriteLock(true);

    /**
     * Does a piece of work, again and alone if it runs out of memory beside others.
     *
     * @throws OutOfMemoryError if memory does not suffice even then
     */
    <T> T take(Supplier<T> work) {
        lock.readLock().lock();
        try {
            return work.get();
        } catch (OutOfMemoryError crowded) {
            // What it held is garbage now; below it is done again when no other decodes.
        } finally {
            lock.readLock().unlock();
        }
        lock.writeLock().lock();
        try {
            return work.get();
        } finally {
            lock.writeLock().unlock();
        }
    }
}
