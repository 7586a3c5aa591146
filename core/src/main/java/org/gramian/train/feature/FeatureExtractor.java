package org.gramian.train.feature;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.basis.Sha256;
import org.gramian.image.crop.Crops;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.library.GpuMath;
import org.gramian.tensor.library.Libtorch;
import org.gramian.train.feature.FeatureFile.Part;

/**
 * Computes features in batches of a fixed size, padded at the end.
 *
 * <p>On the CPU the bits of a feature depend neither on its position in the batch nor on the other images, but on the batch size and the
 * threads of an operator, which select other kernels. So the batch size, the libtorch version, the kind of device and the {@link
 * Libtorch#cpuKernels kernels} are part of the {@link #recipe}, and each batch is computed on one thread, several batches at once
 * ({@link org.gramian.tensor.library.SingleThreadWorkers}): cached and recomputed features are bit-identical on one machine. On a GPU,
 * TF32 is off and cuDNN is deterministic.
 *
 * <p>The GPU model and the CPU's vector instructions are not part of the recipe: in a cache shared by different machines the last bits
 * may differ.
 *
 * @param type {@link DType#F32}, or {@link DType#F16}, to which features are rounded
 */
public record FeatureExtractor(FrozenBackbone network, int batch, DType type) {
    /** Default batch size; a change invalidates caches, since it is part of the recipe. */
    public static final int DEFAULT_BATCH = 16;

    /** Version of decoding, resizing and cropping. Increment it when the pixels of a crop change; a test checks it. */
    static final int PIXELS = 1;

    /** Version of the backbones. Increment it when features change by more than rounding; a test checks it. */
    static final int NETWORKS = 1;

    public FeatureExtractor {
        if (type != DType.F32 && type != DType.F16) {
            throw new IllegalArgumentException("expected features as f32 or f16, found " + type);
        }
        if (batch < 1) {
            throw new IllegalArgumentException("expected a batch of at least 1 image, found " + batch);
        }
    }

    /**
     * Returns everything that features depend on besides the image and the crop, by name. All but the layer decide which file of the cache
     * a feature is in.
     */
    SequencedMap<String, String> recipe() {
        SequencedMap<String, String> parts = new LinkedHashMap<>();
        parts.put("backbone", network.backbone().name());
        parts.put("layer", network.backbone().layer());
        parts.put("weights", network.fingerprint());
        parts.put("preprocessing", network.preprocessing().text());
        parts.put("type", type.name());
        parts.put("engine", engine());
        parts.put("pixels", Integer.toString(PIXELS));
        parts.put("networks", Integer.toString(NETWORKS));
        return parts;
    }

    /** Returns the SHA-256 of everything that features depend on besides the image and the crop. */
    public String fingerprint() {
        return fingerprint(recipe());
    }

    static String fingerprint(Map<String, String> recipe) {
        String text = recipe.entrySet().stream()
                .map(part -> part.getKey() + "=" + part.getValue().length() + ":" + part.getValue() + "\n")
                .collect(Collectors.joining());
        return Sha256.hex(Sha256.of(text.getBytes(StandardCharsets.UTF_8)));
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

    public Shape shape(Crops crops) {
        return network.backbone().features(crops.size(), crops.size());
    }

    public long bytes(Crops crops) {
        return shape(crops).elements() * type.bytes();
    }

    /**
     * Returns the parts of a row of features in a file by layer: the features at the beginning, the maps of layers that are resized for
     * them behind. So a pooling on one of several layers needs no features of its own.
     */
    SequencedMap<String, Part> layers(int size) {
        Backbone backbone = network.backbone();
        Shape stacked = backbone.features(size, size);
        SequencedMap<String, Part> parts = new LinkedHashMap<>();
        parts.put(backbone.layer(), new Part(0, stacked.elements() * type.bytes()));
        if (resizable()) {
            long before = 0;
            long end = stacked.elements();
            for (String layer : backbone.cutLayers()) {
                Shape own = backbone.cutAt(layer).features(size, size);
                boolean resized = !sameSize(own, stacked);
                parts.put(layer, new Part((resized ? end : before) * type.bytes(), own.elements() * type.bytes()));
                before += own.at(0) * stacked.at(1) * stacked.at(2);
                end += resized ? own.elements() : 0;
            }
        }
        return parts;
    }

    Optional<Part> find(FeatureFile file, int size) {
        Part own = layers(size).firstEntry().getValue();
        return Optional.ofNullable(file.header().layers().get(network.backbone().layer()))
                .filter(part -> part.bytes() == own.bytes());
    }

    private boolean resizable() {
        return network.backbone().cutLayers().size() > 1;
    }

    private static boolean sameSize(Shape own, Shape stacked) {
        return own.at(own.rank() - 1) == stacked.at(stacked.rank() - 1)
                && own.at(own.rank() - 2) == stacked.at(stacked.rank() - 2);
    }

    /**
     * Computes the features of a batch.
     *
     * @param images {@code [batch, 3, size, size]} on the CPU
     * @param target receives {@code [batch, c, h, w]} in this extractor's type
     */
    public void compute(Tensor images, MemorySegment target) {
        compute(images, target, target.byteSize() / batch, false);
    }

    /**
     * Computes rows of a file.
     *
     * @param rowBytes distance of two rows in the target
     */
    void compute(Tensor images, MemorySegment target, long rowBytes, boolean all) {
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            int size = Math.toIntExact(images.size(2));
            Shape stacked = network.backbone().features(size, size);
            AtomicLong end = new AtomicLong(stacked.elements() * type.bytes());
            Consumer<Var> layers = maps -> {
                if (all && resizable() && !sameSize(maps.shape(), stacked)) {
                    end.set(put(maps.value(), target, rowBytes, end.get()));
                }
            };
            Var features = Libtorch.load().with(GpuMath.EXACT, () -> {
                Var input = tape.constant(images.to(network.device()));
                SequencedMap<String, Var> bound = network.parameters().variables(tape);
                bound.putAll(network.folded().variables(tape));
                return network.backbone().apply(input, Bindings.of(bound), layers);
            });
            put(features.value(), target, rowBytes, 0);
        }
    }

    /** Rounds maps of a batch and copies them into its rows. */
    private long put(Tensor maps, MemorySegment target, long rowBytes, long offset) {
        Tensor rounded = maps.to(type);
        requireFinite(maps, rounded);
        MemorySegment values = rounded.to(Device.CPU).contiguous().data();
        long bytes = maps.shape().elements() / batch * type.bytes();
        for (int row = 0; row < batch; row++) {
            MemorySegment.copy(values, row * bytes, target, row * rowBytes + offset, bytes);
        }
        return offset + bytes;
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
