package org.gramian.export;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * Runs what needs a deeper stack than Java's threads have: ONNX Runtime, while it is loaded and while it opens a file, used
 * more than 2 MiB, and ended the whole process without a word where there was less.
 */
final class DeepStack {
    /** Address space, of which only what is used takes memory. */
    private static final long BYTES = 64L << 20;

    private DeepStack() {}

    /** The result of a task on a thread of its own, waited for. */
    static <T> T call(Callable<T> task) throws ExecutionException {
        FutureTask<T> future = new FutureTask<>(task);
        Thread thread = new Thread(null, future, "gramian-onnx", BYTES);
        thread.setDaemon(true);
        thread.start();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return future.get();
                } catch (InterruptedException _) {
                    interrupted = true; // it cannot be broken off; who was interrupted is told afterwards
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
