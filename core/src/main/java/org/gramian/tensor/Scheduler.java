package org.gramian.tensor;

import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Order of work within a computation: work whose results are needed late may run beside the rest.
 *
 * <p>{@link #SEQUENTIAL} runs everything at once.
 *
 * @since 0.1
 */
public interface Scheduler extends AutoCloseable {
    /** Runs work where it is submitted. */
    Scheduler SEQUENTIAL = new Scheduler() {
        @Override
        public List<@Nullable Tensor> run(List<Tensor> reads, Supplier<List<@Nullable Tensor>> work) {
            try (Scope scope = Scope.open()) {
                List<@Nullable Tensor> results = work.get();
                results.stream().filter(Objects::nonNull).forEach(scope::keep);
                return results;
            }
        }

        @Override
        public void join() {}
    };

    /**
     * Runs work, at the latest before {@link #join} returns.
     *
     * @param reads tensors that the work reads, except those that outlive this object
     * @param work computes tensors; others that it creates may be freed
     * @return the results, which can be read after {@link #join} only
     */
    List<@Nullable Tensor> run(List<Tensor> reads, Supplier<List<@Nullable Tensor>> work);

    /** Makes the results of all work readable. */
    void join();

    /** Joins all work. */
    @Override
    default void close() {
        join();
    }
}
