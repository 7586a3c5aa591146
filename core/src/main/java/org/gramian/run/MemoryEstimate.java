package org.gramian.run;

import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.stream.Collectors;
import org.gramian.linear.LinearSolver;
import org.gramian.run.config.ConfigException;
import org.gramian.run.config.TrainConfig;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.library.Libtorch;
import org.gramian.train.feature.FeatureExtractor;

/**
 * Estimated peak memory of a run, in bytes.
 *
 * <p>Feature extraction, the solver and the training stages follow each other, so the largest of them counts, on the device of
 * the model. Decoded images are in main memory beside them. Cached features are mapped from disk and need none.
 *
 * @param images decoded images and batches of crops
 * @param extraction frozen backbone and the feature maps of the batches in work; rough
 * @param training parameters, gradients, optimizer state and the feature maps of one batch of the larger stage; rough
 * @param solver descriptors and matrices of a closed-form classifier; 0 if it is trained by epochs
 * @param parameters lower bound: parameters with gradients and optimizer state, or the memory of the solver
 * @param gpu whether all but the images are on a GPU
 */
public record MemoryEstimate(long images, long extraction, long training, long solver, long parameters, boolean gpu) {
    private static final long PROGRAM = 500L << 20;

    /** A smaller part would read 0.0 GB. */
    private static final long SHOWN = 50_000_000;

    /** A decoded image of 12 megapixels. */
    private static final long IMAGE = 36L << 20;

    public static MemoryEstimate of(Workload work, Device device, int threads) {
        boolean gpu = device.kind() == Device.Kind.CUDA;
        int workers = gpu ? 1 : Libtorch.load().threads();
        long side = Math.max(
                work.config().get(TrainConfig.CROPS).size(),
                work.config().testPlan().size());
        long batch = FeatureExtractor.DEFAULT_BATCH * 3L * side * side * DType.F32.bytes();
        long network = (work.backboneParameters() + work.tailParameters()) * DType.F32.bytes();
        long maps = work.config().network().backbone().activations((int) side, (int) side).stream()
                        .mapToLong(Long::longValue)
                        .max()
                        .orElse(0)
                * DType.F32.bytes();
        long solver =
                work.config().recipe().solver().map(one -> solver(work, one)).orElse(0L);
        boolean finetuned = work.config().recipe().stage2().epochs() > 0;
        long moved = 3 * work.headParameters() * DType.F32.bytes() + (finetuned ? 3 : 1) * network;
        return new MemoryEstimate(
                (workers + 2) * batch + 2L * threads * IMAGE,
                network + (long) workers * FeatureExtractor.DEFAULT_BATCH * maps,
                solver > 0 ? 0 : Math.max(work.memoryBytes(), refit(work)),
                solver,
                solver > 0 ? solver : moved,
                gpu);
    }

    private static long solver(Workload work, LinearSolver solver) {
        return solver.bytes(rows(work), work.descriptorSize());
    }

    private static long rows(Workload work) {
        return work.folds().stream().mapToLong(Workload.Fold::training).max().orElse(0) * work.trainingCrops();
    }

    /** Returns the memory of refitting the classifier after stage 1; 0 without refit, or without room for it. */
    private static long refit(Workload work) {
        return work.config()
                .recipe()
                .refit()
                .filter(solver -> work.config().recipe().stage1().epochs() > 0
                        && solver.hasRoom(rows(work), work.descriptorSize()))
                .map(solver -> solver(work, solver))
                .orElse(0L);
    }

    private long largest() {
        return Math.max(extraction, Math.max(training, solver));
    }

    public long host() {
        return PROGRAM + images + (gpu ? 0 : largest());
    }

    public long device() {
        return gpu ? largest() : 0;
    }

    /** Returns the estimate in one line, e.g. */
    public String text() {
        SequencedMap<String, Long> parts = new LinkedHashMap<>();
        parts.put("images", images);
        parts.put("feature extraction", extraction);
        parts.put("training", training);
        parts.put("solver", solver);
        String shown = parts.entrySet().stream()
                .filter(part -> part.getValue() >= SHOWN)
                .map(part -> part.getKey() + " " + gigabytes(part.getValue()))
                .collect(Collectors.joining(", ", "", ", libtorch and Java " + gigabytes(PROGRAM)));
        return (gpu ? gigabytes(device()) + " on the GPU and " : "") + gigabytes(host()) + ": " + shown;
    }

    private static String gigabytes(long bytes) {
        return String.format(Locale.ROOT, "%.1f GB", bytes / 1e9);
    }

    public static long hostMemory() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system
                ? system.getTotalMemorySize()
                : Long.MAX_VALUE;
    }

    public static long deviceMemory() {
        return Libtorch.load().cudaMemoryFree().orElse(Long.MAX_VALUE);
    }

    public Optional<String> requireFits(long hostMemory, long deviceMemory) {
        long there = gpu ? deviceMemory : hostMemory;
        String where = gpu ? "free GPU memory" : "memory";
        String advice = solver > 0
                ? "; use fewer crops, shorter descriptors (pca:64 at the start of the pooling) or the classifier"
                        + " softmax"
                : "; use a smaller --batch, a smaller --image-size or a smaller backbone";
        if (parameters > there) {
            throw new ConfigException("expected at least " + gigabytes(parameters) + " of " + where + " for "
                    + (solver > 0 ? "descriptors and the solver" : "parameters and optimizer state") + ", found "
                    + gigabytes(there) + advice);
        }
        boolean tight = host() > hostMemory || device() > deviceMemory;
        return tight
                ? Optional.of(
                        "the run may not fit into memory: it needs about " + text() + "; found " + gigabytes(hostMemory)
                                + (gpu ? " and " + gigabytes(deviceMemory) + " on the GPU" : "") + advice)
                : Optional.empty();
    }
}
