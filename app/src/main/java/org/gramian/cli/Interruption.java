package org.gramian.cli;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.gramian.train.loop.Breaks;

/**
 * Lets Ctrl-C and SIGTERM end a command in its own way, as a training after its present step with everything kept, and with
 * the command's own exit code.
 *
 * <p>Java answers such a signal by running its shutdown hooks and ending with the signal's number; so the hook waits for
 * the command, and then for what the program has to say of it, and ends the process itself.
 */
final class Interruption implements AutoCloseable {
    /** Known when everything is said; the process has one end only. */
    private static final CompletableFuture<Integer> CODE = new CompletableFuture<>();

    private static final long SECONDS_TO_SAY_IT = 10;

    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread hook;
    private volatile String answer = "stopping";

    Interruption(Breaks breaks, Consumer<String> say) {
        this(breaks::ask, say);
    }

    private Interruption(Runnable stop, Consumer<String> say) {
        hook = Thread.ofPlatform().name("gramian-interruption").unstarted(() -> {
            say.accept(answer);
            stop.run();
            Runtime.getRuntime().halt(awaitCode());
        });
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** For any command: runs something that makes it end, and says so. */
    static Interruption of(Runnable stop, String answer, Consumer<String> say) {
        Interruption interruption = new Interruption(stop, say);
        interruption.answer = answer;
        return interruption;
    }

    private int awaitCode() {
        try {
            closed.await();
            return CODE.completeOnTimeout(Main.FAILED, SECONDS_TO_SAY_IT, TimeUnit.SECONDS)
                    .join();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return Main.FAILED;
        }
    }

    /**
     * From now on there is something to keep.
     *
     * @param lost the most that is lost by whoever does not wait
     */
    void keeps(Duration lost) {
        answer = "stopping after the present step; everything is kept (kill -9 "
                + ProcessHandle.current().pid() + " ends it at once; at most " + PlanText.duration(lost)
                + " of work is lost then)";
    }

    /** Ends the process, whether it is being interrupted or not. */
    static void exit(int code) {
        CODE.complete(code);
        System.exit(code);
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            closed.countDown(); // the process is ending already, and the hook waits for us
        }
    }
}
