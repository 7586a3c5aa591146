package org.gramian.train.feature;

import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.SequencedMap;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.image.crop.Crops;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.library.GpuMath;
import org.gramian.tensor.library.Libtorch;

/**
 * Computes features in batches of a fixed size, padded at the end.
 *
 * <p>On the CPU the bits of a feature depend neither on its position in the batch nor on the other images, but on the batch size and the
 * threads of an operator, which select other kernels. So the batch size, the libtorch version, the kind of device and the {@link
 * Libtorch#cpuKernels kernels} are part of the {@link FeatureRecipe}, and each batch is computed on one thread, several batches at once
 * ({@link org.gramian.tensor.library.SingleThreadWorkers}): cached and recomputed features are bit-identical on one machine. On a GPU,
 * TF32 is off and cuDNN is deterministic.
 *
 * <p>The GPU model and the CPU's vector instructions are not part of the recipe: in a cache shared by different machines the last bits
 * may differ.
 *
 * @param network backbone and weights
 * @param batch images per batch
 * @param type {@link DType#F32}, or {@link DType#F16}, to which features are rounded
 */
public record FeatureExtractor(FrozenBackbone network, int batch, DType type) {
    /** Default batch size; a change invalidates caches, since it is part of the recipe. */
    public static final int DEFAULT_BATCH = 16;

    public FeatureExtractor {
        if (batch < 1) {
            throw new IllegalArgumentException("expected a batch of at least 1 image, found " + batch);
        }
    }

    /** Returns the recipe of the features. */
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
                ? libtorch.cpuKernels() + ", 1 thread a batch"
                : "cuda, no TF32, reproducible cuDNN";
        return "libtorch " + libtorch.version() + ", " + kernels + ", batches of " + batch + ", java "
                + Runtime.version().feature();
    }

    /** Returns the number of batches computed in parallel: on the CPU one per libtorch thread. */
    int workers() {
        return network.device().kind() == Device.Kind.CPU ? Libtorch.load().threads() : 1;
    }

    /** Returns the shape {@code [c, h, w]} of a crop's feature. */
    public Shape shape(Crops crops) {
        return network.backbone().features(crops.size(), crops.size());
    }

    /** Returns the bytes of a crop's feature. */
    public long bytes(Crops crops) {
        return shape(crops).elements() * type.bytes();
    }

    /**
     * Computes the features of a batch.
     *
     * @param images {@code [batch, 3, size, size]} on the CPU
     * @param target receives {@code [batch, c, h, w]} in this extractor's type
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
                Var input = tape.constant(images.to(network.device()));
                SequencedMap<String, Var> bound = network.parameters().variables(tape);
                bound.putAll(network.folded().variables(tape));
                return network.backbone().apply(input, Bindings.of(bound));
            });
            Tensor rounded = features.value().to(type);
            requireFinite(features.value(), rounded);
            Tensor result = rounded.to(Device.CPU).contiguous();
            MemorySegment.copy(result.data(), 0, target, 0, target.byteSize());
        }
    }

    private void requireFinite(Tensor features, Tensor rounded) {
        if (rounded.allFinite()) {
            return;
        }
        if (features.allFinite()) {
            throw new IllegalArgumentException(String.format(
                    Locale.ROOT,
                    "features of %s reach %.0f, beyond the float16 maximum of 65504: store them as f32",
                    network.backbone(),
                    features.largestMagnitude()));
        }
        throw new IllegalArgumentException("expected finite features of " + network.backbone()
                + ", found NaN or infinity: its weights are damaged or too large");
    }
}
