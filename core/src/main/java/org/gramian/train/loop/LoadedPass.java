package org.gramian.train.loop;

import java.util.List;
import java.util.function.IntFunction;
import org.gramian.image.batch.Batch;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.Place;
import org.gramian.image.dataset.Sample;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.jspecify.annotations.Nullable;

/** A pass over images that a {@link BatchLoader} renders ahead; holds one batch until the next one. */
final class LoadedPass implements Examples.Pass {
    private final BatchLoader loader;
    private final IntFunction<Sample> samples;
    private final Device device;
    private @Nullable Batch held;

    LoadedPass(BatchLoader loader, IntFunction<Sample> samples, Device device) {
        this.loader = loader;
        this.samples = samples;
        this.device = device;
    }

    @Override
    public boolean hasNext() {
        return loader.hasNext();
    }

    @Override
    public Examples.Minibatch next() {
        Batch batch = take();
        List<Place> places = batch.places();
        Tensor used = Views.slice(batch.tensor(), 0, 0, places.size());
        int[] labels = places.stream()
                .mapToInt(place -> samples.apply(place.work()).label())
                .toArray();
        return new Examples.Minibatch(Tensors.to(used, device), labels);
    }

    /** Returns the next batch in host memory, valid until the following call. */
    Batch take() {
        release();
        Batch batch = loader.next();
        held = batch;
        batch.places().forEach(this::requireReadable);
        return batch;
    }

    private void requireReadable(Place place) {
        place.problem().ifPresent(problem -> {
            throw MissingImage.of(samples.apply(place.work()), problem);
        });
    }

    private void release() {
        if (held != null) {
            held.close();
            held = null;
        }
    }

    @Override
    public void close() {
        release();
        loader.close();
    }
}
