package org.gramian.train.distill;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import org.apache.commons.statistics.distribution.BetaDistribution;
import org.gramian.basis.KeyedRandom;
import org.gramian.image.Image;
import org.gramian.image.ImageFormat;
import org.gramian.image.ImageInfo;
import org.gramian.image.ReadResult;
import org.gramian.image.ReadResult.Readable;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.augment.Augmentation;
import org.gramian.image.augment.CropParameters;
import org.gramian.image.augment.CropRenderer;
import org.gramian.image.augment.ImageStore;
import org.gramian.image.augment.ResidentImages;
import org.gramian.image.batch.Batch;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.Prefetch;
import org.gramian.image.batch.Shuffle;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.jspecify.annotations.Nullable;

/**
 * Images of a distillation, decoded once and rendered as augmented crops in RGB bytes: on a GPU that has memory for all of them,
 * else by threads of the host. Order, crops and mixup follow from (seed, epoch, image).
 *
 * <p>Mixup blends each crop with the next one of its batch, {@code λx_i + (1 − λ)x_{i+1}} with its own {@code λ ~ Beta(α, α)}; the
 * teachers see the same blend.
 */
final class TrainingImages implements AutoCloseable {
    private static final int AHEAD = 3;

    /** Keeps the draws of mixup apart from those of augmentation. */
    private static final long MIXUP = 0x6d6978; // "mix"

    /** Shares are drawn from so many quantiles of the Beta distribution. */
    private static final int QUANTILES = 1024;

    private final DistillOptions options;
    private final ImageStore store;
    private final int[] readable;
    private final CropRenderer renderer;
    private final @Nullable ResidentImages resident;
    private final Device device;
    private final int threads;
    private final double[] quantiles;
    private final Tensor shares;

    private TrainingImages(DistillOptions options, ImageStore store, int[] readable, Device device, int threads) {
        this.options = options;
        this.store = store;
        this.readable = readable;
        this.renderer = new CropRenderer(options.renderSize(), NetworkInput.BYTES);
        this.device = device;
        this.threads = threads;
        this.resident = ResidentImages.of(store, renderer, device).orElse(null);
        if (resident != null) {
            store.close(); // sizes stay known
        }
        this.quantiles = options.mixup() == 0
                ? new double[] {1}
                : IntStream.range(0, QUANTILES)
                        .mapToDouble(i -> BetaDistribution.of(options.mixup(), options.mixup())
                                .inverseCumulativeProbability((i + 0.5) / QUANTILES))
                        .toArray();
        try (Scope scope = Scope.open()) {
            shares = Tensors.full(1, Shape.of(store.count()), DType.F32, device);
            scope.release(shares);
        }
    }

    /**
     * Decodes images with all threads.
     *
     * @param folder of the scratch file for images beyond the memory
     * @param skipped receives each unreadable image with the reason
     * @param progress receives the number of images so far; may throw to stop
     */
    static TrainingImages read(
            UnlabelledImages images,
            DistillOptions options,
            Device device,
            int threads,
            Path folder,
            BiConsumer<Path, String> skipped,
            LongConsumer progress) {
        List<Sample> samples = new ArrayList<>();
        for (Path file : images.files()) {
            samples.add(new Sample(Integer.toString(samples.size()), 0, file));
        }
        Crops crops = CropPlan.parse("center").withSize(options.renderSize()).testing();
        Set<Path> unreadable = ConcurrentHashMap.newKeySet();
        ImageStore store = ImageStore.read(
                samples,
                file -> {
                    ReadResult found = crops.seen(images.read(file));
                    if (!(found instanceof Unreadable problem)) {
                        return found;
                    }
                    if (unreadable.add(file)) {
                        skipped.accept(file, problem.reason());
                    }
                    return placeholder();
                },
                crops,
                ImageStore.Options.of(options.renderSize(), threads, folder),
                (sample, problem) -> new IllegalStateException(sample.file() + ": " + problem.reason()),
                progress);
        try {
            int[] readable = IntStream.range(0, samples.size())
                    .filter(i -> !unreadable.contains(samples.get(i).file()))
                    .toArray();
            return new TrainingImages(options, store, readable, device, threads);
        } catch (RuntimeException | Error failed) {
            store.close();
            throw failed;
        }
    }

    /** Returns one black pixel, which is stored for an unreadable image and never used. */
    private static ReadResult placeholder() {
        return new Readable(
                new Image(1, 1, new byte[3]), new ImageInfo(ImageFormat.PNG, ImageInfo.Colour.RGB, 8, 1, 1, 1));
    }

    /** Returns the number of readable images. */
    int count() {
        return readable.length;
    }

    /** Returns the number of whole batches of an epoch: the rest of an epoch's order is left out. */
    int steps() {
        return count() / batch();
    }

    /** Returns the images of a batch: all of them where there are fewer than the batch size. */
    int batch() {
        return Math.min(options.batch(), count());
    }

    /** Returns the number of stored images, readable or not: places lie below it. */
    int places() {
        return store.count();
    }

    /** Whether crops are rendered on a GPU. */
    boolean isResident() {
        return resident != null;
    }

    /** Returns the places of an epoch's images in order. */
    int[] order(int epoch) {
        return Arrays.stream(Shuffle.epoch(count(), options.seed(), epoch))
                .map(i -> readable[i])
                .toArray();
    }

    private CropParameters parameters(int epoch, int image) {
        Augmentation.Geometry geometry = new Augmentation.Geometry(store.width(image), store.height(image), false);
        return options.augmentation()
                .draw(new Augmentation.Draw(options.seed(), epoch, image), geometry, renderer.size());
    }

    /** Draws crops and shares of an epoch. */
    void seek(int epoch) {
        if (resident != null) {
            resident.set(IntStream.range(0, places())
                    .parallel()
                    .mapToObj(image -> parameters(epoch, image))
                    .toList());
        }
        double[] drawn = new double[places()];
        for (int image = 0; image < drawn.length; image++) {
            SplittableRandom random = KeyedRandom.of(options.seed(), MIXUP, epoch, image);
            drawn[image] = quantiles[random.nextInt(quantiles.length)];
        }
        try (Scope _ = Scope.open()) {
            shares.copyFrom(Tensors.of(drawn, shares.shape(), DType.F32));
        }
    }

    /**
     * Renders a batch on the GPU; it belongs to the current scope and can be part of a CUDA graph.
     *
     * @param places I64 {@code [n]} on the GPU
     * @return RGB bytes {@code [n, 3, side, side]} as float32
     */
    Tensor render(Tensor places) {
        if (resident == null) {
            throw new IllegalStateException("the images are not in GPU memory");
        }
        return mixed(resident.render(places), places);
    }

    /** Renders batches ahead by threads of the host. */
    Pass pass(int[] order, int epoch) {
        return new Pass(order, epoch);
    }

    /** Batches of an epoch from the host. */
    final class Pass implements AutoCloseable {
        private final BatchLoader loader;
        private final int[] order;
        private int next;

        private Pass(int[] order, int epoch) {
            this.order = order;
            this.loader = new BatchLoader(
                    order.length,
                    renderer.size(),
                    new Prefetch(batch(), threads, AHEAD),
                    (index, slot) -> renderer.render(store.image(order[index]), parameters(epoch, order[index]), slot));
        }

        /** Returns the next batch on the device, in the current scope. */
        Tensor next() {
            int size = Math.min(batch(), order.length - next);
            long[] wide = Arrays.stream(order, next, next + size).asLongStream().toArray();
            next += size;
            try (Scope scope = Scope.open();
                    Batch batch = loader.next()) {
                Tensor crops = batch.tensor().slice(0, 0, size).copy().to(device);
                Tensor places = Tensors.ofLongs(wide, Shape.of(size)).to(device);
                return scope.keep(mixed(crops, places));
            }
        }

        @Override
        public void close() {
            loader.close();
        }
    }

    private Tensor mixed(Tensor crops, Tensor places) {
        long rows = crops.size(0);
        if (options.mixup() == 0 || rows < 2) {
            return crops;
        }
        try (Scope scope = Scope.open()) {
            Tensor share = shares.select(0, places).reshape(rows, 1, 1, 1);
            Tensor partners = Tensors.concat(List.of(crops.slice(0, 1, rows), crops.slice(0, 0, 1)), 0);
            Tensor difference = crops.sub(partners).mul(share);
            return scope.keep(partners.add(difference));
        }
    }

    @Override
    public void close() {
        if (resident != null) {
            resident.close();
        }
        store.close();
        shares.close();
    }
}
