package org.gramian.train.loop;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.gramian.tensor.DType;
import org.gramian.tensor.GpuUpload;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.jspecify.annotations.Nullable;

/**
 * Images that are decoded, or rendered from decoded ones, on the host and brought to the GPU while that computes the step before.
 *
 * <p>Batches come from one loader, whose memory the uploads read; so whoever turns elsewhere waits for them. It rests before its
 * entrances are closed.
 */
final class RenderedBatchSource implements BatchSource {
    private final LoadedExamples examples;
    private final int batch;
    private final List<Arrival> arrivals = new ArrayList<>();
    private @Nullable LoadedPass loaded;
    private @Nullable Arrival last;

    /** @param batch crops of every batch but the last of an epoch */
    RenderedBatchSource(LoadedExamples examples, int batch) {
        this.examples = examples;
        this.batch = batch;
    }

    @Override
    public int stepsAtOnce() {
        return 4;
    }

    @Override
    public void turnTo(int[] order, int next, long epoch) {
        rest();
        loaded = examples.loaded(Arrays.copyOfRange(order, next, order.length), batch, epoch);
    }

    @Override
    public Entrance entrance(int size) {
        Arrival arrival = new Arrival(size);
        arrivals.add(arrival);
        return arrival;
    }

    /** A tensor that batches of one size arrive in. */
    private final class Arrival implements Entrance {
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

        @Override
        public void bring() {
            if (last != null) {
                last.upload.awaitSource(); // the loader gets that memory back now
            }
            LoadedPass from = loaded;
            if (from == null) {
                throw new IllegalStateException("no position in an epoch was set");
            }
            upload.start(from.take().memory());
            upload.takeOver();
            last = this;
        }

        @Override
        public Tensor input(Tensor places) {
            return input;
        }

        @Override
        public void close() {
            upload.close();
            input.close();
        }
    }

    @Override
    public void rest() {
        try {
            arrivals.forEach(arrival -> arrival.upload.await()); // one may read what another has pinned
            arrivals.forEach(arrival -> arrival.upload.unpin());
        } finally {
            last = null;
            if (loaded != null) {
                loaded.close();
                loaded = null;
            }
        }
    }
}
