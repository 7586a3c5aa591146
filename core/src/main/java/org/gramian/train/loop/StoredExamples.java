package org.gramian.train.loop;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.gramian.image.augment.Augmentation;
import org.gramian.image.augment.CropParameters;
import org.gramian.image.augment.CropRenderer;
import org.gramian.image.augment.ImageStore;
import org.gramian.image.augment.ResidentImages;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.BatchLoader.Prefetch;
import org.gramian.image.batch.Rendering;
import org.gramian.image.dataset.Sample;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.loop.Examples.Minibatch;
import org.gramian.train.loop.LoadedExamples.LoadedPass;
import org.gramian.train.recipe.Recipe;
import org.jspecify.annotations.Nullable;

/**
 * Augmented training images: decoded once into an {@link ImageStore}, and rendered in every epoch with parameters that follow from
 * (seed, epoch, image index). Each image is one example, for any number of training crops of the crop plan.
 *
 * <p>If GPU memory suffices it holds the decoded images and renders them; else host threads render them ahead.
 */
public final class StoredExamples implements LoadedExamples {
    private static final int AHEAD = 4;

    private final List<Sample> samples;
    private final Recipe recipe;
    private final TrainingContext context;
    private final boolean squeezed;
    private final ImageStore store;
    private final CropRenderer renderer;
    private final @Nullable ResidentImages resident;
    private long current = -1;

    private StoredExamples(
            List<Sample> samples, Rendering rendering, Recipe recipe, TrainingContext context, ImageStore store) {
        this.samples = List.copyOf(samples);
        this.recipe = recipe;
        this.context = context;
        this.squeezed = !rendering.crops().aspectKept();
        this.store = store;
        this.renderer = new CropRenderer(recipe.augmenting().imageSize(), rendering.preprocessing());
        this.resident = ResidentImages.of(store, renderer, context.device()).orElse(null);
        if (resident != null) {
            store.close(); // sizes stay known
        }
    }

    public static StoredExamples open(
            List<Sample> samples, Rendering rendering, Recipe recipe, TrainingContext context) {
        Path folder = context.checkpointing()
                .file()
                .map(file -> file.toAbsolutePath().getParent())
                .orElseGet(() -> Path.of(System.getProperty("java.io.tmpdir")));
        ImageStore store = ImageStore.read(
                samples,
                rendering.reader(),
                rendering.crops(),
                ImageStore.Options.of(recipe.augmenting().imageSize(), context.threads(), folder),
                LoadedExamples::missing,
                done -> context.preparing(new TrainEvent.Task("decoding training images", done, samples.size())));
        try {
            return new StoredExamples(samples, rendering, recipe, context, store);
        } catch (RuntimeException | Error failed) {
            store.close();
            throw failed;
        }
    }

    @Override
    public int count() {
        return samples.size();
    }

    @Override
    public int label(int index) {
        return samples.get(index).label();
    }

    @Override
    public int size() {
        return renderer.size();
    }

    @Override
    public Device device() {
        return context.device();
    }

    boolean isResident() {
        return resident != null;
    }

    private CropParameters parameters(long epoch, int image) {
        Augmentation.Geometry geometry = new Augmentation.Geometry(store.width(image), store.height(image), squeezed);
        return recipe.augmenting()
                .policy()
                .draw(new Augmentation.Draw(recipe.seed(), epoch, image), geometry, renderer.size());
    }

    @Override
    public Pass pass(int[] order, int batch, long epoch) {
        if (resident == null) {
            return loaded(order, batch, epoch);
        }
        seek(epoch);
        return Pass.over(order, batch, examples -> {
            long[] wide = Arrays.stream(examples).asLongStream().toArray();
            try (Scope scope = Scope.open()) {
                Tensor indices = Tensors.ofLongs(wide, Shape.of(wide.length)).to(context.device());
                return new Minibatch(
                        scope.keep(render(indices)),
                        Arrays.stream(examples).map(this::label).toArray());
            }
        });
    }

    @Override
    public LoadedPass loaded(int[] order, int batch, long epoch) {
        BatchLoader loader = new BatchLoader(
                order.length,
                renderer.size(),
                new Prefetch(batch, context.threads(), AHEAD),
                (slot, index) -> renderer.render(store.image(order[index]), parameters(epoch, order[index]), slot));
        return new LoadedPass(loader, index -> samples.get(order[index]), context.device());
    }

    /** Brings the parameters of an epoch to the GPU where the images are resident. */
    void seek(long epoch) {
        if (resident != null && epoch != current) {
            resident.set(IntStream.range(0, count())
                    .mapToObj(image -> parameters(epoch, image))
                    .toList());
            current = epoch;
        }
    }

    Tensor render(Tensor indices) {
        return Objects.requireNonNull(resident, "the images are not in GPU memory")
                .render(indices);
    }

    @Override
    public void close() {
        if (resident != null) {
            resident.close();
        }
        store.close();
    }
}
