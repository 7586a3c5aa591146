package org.gramian.train.feature;

import java.lang.foreign.MemorySegment;
import java.util.Locale;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.image.crop.Crops;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.GpuMath;
import org.gramian.tensor.Libtorch;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * Computes features, in batches of one fixed size that are padded at the end.
 *
 * <p><b>Bits.</b> Measured on the CPU, for every backbone here: the bits of a feature depend neither on its place in the
 * batch nor on what else is in it. They do depend on the size of the batch (one image against several) and on the
 * number of threads of an operator, for other kernels are chosen then. So the size, with the version of libtorch and the kind
 * of device, is part of the {@link FeatureRecipe}, a batch is computed on one thread (several batches at once, see {@link
 * org.gramian.tensor.SingleThreadWorkers}), and on one machine features that were kept equal features computed anew bit for bit.
 * On a GPU this was not measured: there TF32 is off and cuDNN chooses reproducible algorithms only, for which {@link
 * #compute} cares, so that nobody's settings slip into the cache.
 *
 * <p>Not part of the recipe are the model of the GPU and the vector instructions of the processor, of which libtorch's C
 * interface does not tell: features in a cache that different machines share may differ from new ones in the last bits.
 *
 * @param network the backbone and its weights
 * @param batch images at a time
 * @param type {@link DType#F32}, or {@link DType#F16}, to which results are rounded
 */
public record FeatureExtractor(FrozenBackbone network, int batch, DType type) {
    /** Default batch size in images; part of the recipe, so a change makes caches start anew. */
    public static final int DEFAULT_BATCH = 16;

    public FeatureExtractor {
        if (batch < 1) {
            throw new IllegalArgumentException("expected a batch of at least 1 image, found " + batch);
        }
    }

    /** What the features depend on. */
    public FeatureRecipe recipe() {
        return new FeatureRecipe(
                network.backbone().name(),
                network.backbone().layer(),
                network.fingerprint(),
                network.preprocessing(),
                type,
                engine());
    }

    private String engine() {
        Libtorch libtorch = Libtorch.load();
        String kernels = network.device().kind() == Device.Kind.CPU
                ? "cpu " + System.getProperty("os.arch") + ", 1 thread a batch"
                : "cuda, no TF32, reproducible cuDNN";
        return "libtorch " + libtorch.version() + ", " + kernels + ", batches of " + batch + ", java "
                + Runtime.version().feature();
    }

    /** Batches that are computed at once: on the CPU one for each thread of libtorch, each on one thread. */
    int workers() {
        return network.device().kind() == Device.Kind.CPU ? Libtorch.load().threads() : 1;
    }

    /** The shape {@code [c, h, w]} of one crop's feature. */
    public Shape shape(Crops crops) {
        return network.backbone().features(crops.size(), crops.size());
    }

    /** Bytes of one crop's feature. */
    public long bytes(Crops crops) {
        return shape(crops).elements() * type.bytes();
    }

    /**
     * Computes the features of a batch.
     *
     * @param images {@code [batch, 3, size, size]}, on the processor
     * @param target gets {@code [batch, c, h, w]} in this extractor's type
     * @throws IllegalArgumentException if a feature is not a finite number of that type
     */
    public void compute(Tensor images, MemorySegment target) {
        if (images.size(0) != batch) {
            throw new IllegalArgumentException(
                    "expected a batch of exactly " + batch + " images, found " + images.shape());
        }
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Var features = Libtorch.load().with(GpuMath.EXACT, () -> {
                Var input = tape.constant(Tensors.to(images, network.device()));
                return network.backbone()
                        .apply(input, Bindings.of(network.parameters().variables(tape)));
            });
            Tensor rounded = Tensors.to(features.value(), type);
            requireFinite(features.value(), rounded);
            Tensor result = Views.contiguous(Tensors.to(rounded, Device.CPU));
            MemorySegment.copy(result.data(), 0, target, 0, target.byteSize());
        }
    }

    private void requireFinite(Tensor features, Tensor rounded) {
        if (Reductions.allFinite(rounded)) {
            return;
        }
        if (Reductions.allFinite(features)) {
            throw new IllegalArgumentException(String.format(
                    Locale.ROOT,
                    "features of %s reach %.0f, beyond the float16 maximum of 65504: store them as f32",
                    network.backbone(),
                    Reductions.largestMagnitude(features)));
        }
        throw new IllegalArgumentException("expected finite features of " + network.backbone()
                + ", found NaN or infinity: its weights are damaged or too large");
    }
}
