package org.gramian.backbone.weights;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;

/** Reads from a stream, but not for ever: one from which nothing comes for too long is closed under the waiting reader. */
final class StallGuard implements AutoCloseable {
    private final InputStream watched;
    private final long limitNanos;
    private volatile long last = System.nanoTime();
    private volatile boolean done;
    private volatile boolean stalled;

    private StallGuard(InputStream watched, Duration limit) {
        this.watched = watched;
        this.limitNanos = limit.toNanos();
    }

    static StallGuard watch(InputStream watched, Duration limit) {
        StallGuard guard = new StallGuard(watched, limit);
        Thread.ofVirtual().name("stall guard").start(guard::run);
        return guard;
    }

    /** As the stream's own, but for the limit. */
    int read(byte[] target) throws IOException {
        try {
            int count = watched.read(target);
            last = System.nanoTime();
            if (!stalled) {
                return count;
            }
        } catch (IOException e) {
            if (!stalled) {
                throw e;
            }
        }
        throw new IOException(
                "no data received for " + Duration.ofNanos(limitNanos).toSeconds() + " s");
    }

    private void run() {
        while (!done) {
            long left = limitNanos - (System.nanoTime() - last);
            if (left <= 0) {
                stalled = true;
                try {
                    watched.close();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                return;
            }
            try {
                Thread.sleep(Duration.ofNanos(Math.min(left, limitNanos / 4 + 1)));
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    @Override
    public void close() {
        done = true;
    }
}
