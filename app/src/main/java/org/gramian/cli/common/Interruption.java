package org.gramian.cli.common;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.gramian.train.loop.Cancellation;

/**
 * Lets a command end in its own way on Ctrl-C and SIGTERM, as a training after its current step with a checkpoint, and with its
 * own exit code.
 *
 * <p>Java runs shutdown hooks on such a signal and exits with the signal's number. The hook here waits for the command and its
 * last messages, and then exits itself.
 */
public final class Interruption implements AutoCloseable {
    /** Completed after the last message. */
    private static final CompletableFuture<Integer> CODE = new CompletableFuture<>();

    private static final long SECONDS_TO_SAY_IT = 10;

    private static final AtomicInteger OPEN = new AtomicInteger();

    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread hook;
    private volatile String answer;

    /** Handles a signal: cancels a training. */
    public Interruption(Cancellation breaks, Consumer<String> say) {
        this(breaks::cancel, "interrupted; stopping", say);
    }

    /** Handles a signal for any command: prints a message and runs something that makes it end. */
    public Interruption(Runnable stop, String firstAnswer, Consumer<String> say) {
        answer = firstAnswer;
        hook = Thread.ofPlatform().name("gramian-interruption").unstarted(() -> {
            say.accept(answer);
            stop.run();
            Runtime.getRuntime().halt(awaitCode());
        });
        Runtime.getRuntime().addShutdownHook(hook);
        OPEN.incrementAndGet();
    }

    /** Prints a message if a signal ends the process while no command handles it. */
    public static void announce(Consumer<String> say) {
        Runtime.getRuntime()
                .addShutdownHook(Thread.ofPlatform().name("gramian-signal").unstarted(() -> {
                    if (!CODE.isDone() && OPEN.get() == 0) {
                        say.accept("interrupted");
                    }
                }));
    }

    /** Returns whether a failure only means that a signal ends the process. */
    static boolean isCause(Throwable failure) {
        // The message of Java's own hooks, as of File.deleteOnExit; there is no other way to ask.
        return failure instanceof IllegalStateException && "Shutdown in progress".equals(failure.getMessage());
    }

    private int awaitCode() {
        try {
            closed.await();
            return CODE.completeOnTimeout(ExitCode.FAILED, SECONDS_TO_SAY_IT, TimeUnit.SECONDS)
                    .join();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return ExitCode.FAILED;
        }
    }

    /** Says from now on that there is a checkpoint. */
    public void keeps(Duration lost) {
        answer = "interrupted; stopping after the current step with a checkpoint (kill -9 "
                + ProcessHandle.current().pid() + " stops at once and loses at most " + Durations.text(lost)
                + " of work)";
    }

    /** Exits, also while a signal ends the process. */
    public static void exit(int code) {
        CODE.complete(code);
        System.exit(code);
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
            OPEN.decrementAndGet();
        } catch (IllegalStateException _) {
            closed.countDown(); // the process is ending, and the hook waits
        }
    }
}
