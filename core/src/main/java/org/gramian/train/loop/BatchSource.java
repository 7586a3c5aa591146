package org.gramian.train.loop;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongConsumer;
import java.util.function.UnaryOperator;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.GpuUpload;
import org.gramian.train.loop.LoadedExamples.LoadedPass;
import org.jspecify.annotations.Nullable;

/** Batches of the steps of a CUDA graph. */
interface BatchSource extends AutoCloseable {
    /** Returns the steps between two checks by the host: few enough for progress bars and Ctrl-C. */
    int stepsAtOnce();

    void seek(int[] order, int next, long epoch);

    /** Starts the upload of the next batch of a size; called on the host before each step. */
    default void upload(int batch) {}

    /** Returns the batch at some indices, I64 on the GPU; part of the captured step. */
    Tensor input(Tensor indices);

    /** Stops until the next seek. */
    default void rest() {}

    @Override
    default void close() {}

    /**
     * Examples in GPU memory: features, or decoded images that are rendered there. Taking a batch is part of the CUDA graph.
     *
     * @param epochs called with the number of each epoch before its first batch
     * @param rows returns the batch at some indices, I64 on the GPU
     */
    record Resident(int stepsAtOnce, LongConsumer epochs, UnaryOperator<Tensor> rows) implements BatchSource {

        @Override
        public void seek(int[] order, int next, long epoch) {
            epochs.accept(epoch);
        }

        @Override
        public Tensor input(Tensor indices) {
            return rows.apply(indices);
        }
    }

    /**
     * Images that the host decodes or renders, and uploads while the GPU computes the step before.
     *
     * <p>Uploads read the memory of one loader, so that a seek waits for them. Call {@link #rest} before {@link #close}, which frees the inputs of captured steps.
     */
    final class Rendered implements BatchSource {
        private final LoadedExamples examples;
        private final int batch;
        private final Map<Integer, Arrival> arrivals = new HashMap<>();
        private @Nullable LoadedPass loaded;
        private @Nullable Arrival last;

        /** @param batch crops of every batch but the last of an epoch */
        Rendered(LoadedExamples examples, int batch) {
            this.examples = examples;
            this.batch = batch;
        }

        @Override
        public int stepsAtOnce() {
            return 4;
        }

        @Override
        public void seek(int[] order, int next, long epoch) {
            rest();
            loaded = examples.loaded(Arrays.copyOfRange(order, next, order.length), batch, epoch);
        }

        @Override
        public void upload(int size) {
            if (last != null) {
                last.upload.awaitSource(); // the loader gets that memory back now
            }
            LoadedPass from = Objects.requireNonNull(loaded, "no position in an epoch was set");
            Arrival arrival = arrivals.computeIfAbsent(size, Arrival::new);
            arrival.upload.start(from.take().memory());
            arrival.upload.takeOver();
            last = arrival;
        }

        @Override
        public Tensor input(Tensor indices) {
            return Objects.requireNonNull(arrivals.get(Math.toIntExact(indices.size(0)))).input;
        }

        /** A tensor that receives batches of one size. */
        private final class Arrival {
            private final Tensor input;
            private final GpuUpload upload;

            Arrival(int size) {
                long side = examples.size();
                try (Scope scope = Scope.open()) {
                    input = Tensors.zeros(Shape.of(size, 3, side, side), DType.F32, examples.device());
                    upload = new GpuUpload(input);
                    scope.release(input);
                }
            }
        }

        @Override
        public void rest() {
            try {
                arrivals.values().forEach(arrival -> arrival.upload.await()); // one may read what another has pinned
                arrivals.values().forEach(arrival -> arrival.upload.unpin());
            } finally {
                last = null;
                if (loaded != null) {
                    loaded.close();
                    loaded = null;
                }
            }
        }

        @Override
        public void close() {
            arrivals.values().forEach(arrival -> {
                arrival.upload.close();
                arrival.input.close();
            });
        }
    }
}
