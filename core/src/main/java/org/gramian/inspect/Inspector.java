package org.gramian.inspect;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.basis.Subsample;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.BatchLoader.Batch;
import org.gramian.image.batch.BatchLoader.BatchSlot;
import org.gramian.image.batch.BatchLoader.LoadRequest;
import org.gramian.image.batch.BatchLoader.Prefetch;
import org.gramian.image.batch.Rendering;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Model;
import org.gramian.model.UnreadableImageException;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Computes statistics of a model's pooling on images, with one crop of each: degenerate channels, and the spectra of the
 * matrices after the kernel and every transform.
 */
public record Inspector(Model model, Rendering rendering, int threads) {
    /** Maximum number of images: quantiles of more hardly differ. */
    public static final int MAX_IMAGES = 64;

    private static final int BATCH = 8;

    /** Matrix size up to which the matrices of all images are decomposed; the time grows with its cube. */
    private static final int SMALL = 64;

    /** Returns how many matrices {@code [size, size]} to decompose. */
    static int matrices(long size) {
        return Math.clamp((long) MAX_IMAGES * SMALL / size, 4, MAX_IMAGES);
    }

    /**
     * Inspects a model.
     *
     * @param samples at least one image; at most {@value #MAX_IMAGES}, evenly spaced, are used
     */
    public SpdInspection inspect(List<Sample> samples, String fingerprint, LongConsumer progress) throws IOException {
        List<Sample> some = Subsample.even(samples, MAX_IMAGES);
        Statistics statistics = new Statistics(some.size());
        Rendering first = new Rendering(rendering.reader(), rendering.crops().first(), rendering.preprocessing());
        int processed = 0;
        try (BatchLoader loader =
                new BatchLoader(first, LoadRequest.all(some, first.crops()), new Prefetch(BATCH, threads, 3))) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    requireReadable(batch, some);
                    statistics.add(batch);
                    processed += batch.slots().size();
                    progress.accept(processed);
                }
            }
        }
        return new SpdInspection(
                fingerprint, model.head().pooling().text(), statistics.channels.result(), statistics.stages());
    }

    private static void requireReadable(Batch batch, List<Sample> samples) throws UnreadableImageException {
        for (BatchSlot slot : batch.slots()) {
            if (slot.problem().isPresent()) {
                throw new UnreadableImageException(
                        samples.get(slot.request()).file(), slot.problem().get());
            }
        }
    }

    /** Statistics collected so far. */
    private final class Statistics {
        private final int count;
        private final DegenerateChannels.Accumulator channels = new DegenerateChannels.Accumulator();
        private final Map<String, List<double[]>> spectra = new LinkedHashMap<>();

        Statistics(int count) {
            this.count = count;
        }

        void add(Batch batch) {
            try (Scope _ = Scope.open();
                    Tape tape = Tape.inference()) {
                Tensor images =
                        Tensors.viewOf(batch.memory(), DType.F32, batch.shape()).to(model.device());
                Tensor unpadded = images.slice(0, 0, batch.slots().size());
                Var features = model.backbone()
                        .apply(
                                tape.constant(unpadded),
                                Bindings.of(model.backboneParameters().variables(tape)));
                Bindings parameters =
                        Bindings.of(model.headParameters().variables(tape)).under("pooling");
                Tensor maps =
                        model.head().pooling().reduce(features, parameters).value();
                channels.add(maps.contiguous()
                        .reshape(maps.size(0), maps.size(1), maps.shape().elements() / maps.size(0) / maps.size(1)));
                model.head().pooling().trace(features, parameters, (stage, value) -> {
                    if (isOfMatrices(stage, value)) {
                        decompose(stage, value.value(), batch.slots());
                    }
                });
            }
        }

        /** Returns whether a stage gives SPD matrices. Its name decides too: feature maps {@code [n, c, p]} can have c = p. */
        private static boolean isOfMatrices(String stage, Var value) {
            return stage.matches("(branch \\d+, )*(kernel |transform \\d).*")
                    && value.shape().rank() == 3
                    && value.shape().at(1) == value.shape().at(2);
        }

        /** Decomposes evenly spaced matrices, since samples may be sorted by class. */
        private void decompose(String stage, Tensor matrices, List<BatchSlot> slots) {
            List<double[]> found = spectra.computeIfAbsent(stage, _ -> new ArrayList<>());
            long[] wanted = Subsample.evenIndices(count, matrices(matrices.size(1)));
            for (int i = 0; i < slots.size(); i++) {
                if (Arrays.binarySearch(wanted, slots.get(i).request()) >= 0) {
                    found.add(spectrum(matrices.slice(0, i, i + 1L)));
                }
            }
        }

        /** Returns the eigenvalues of a matrix, descending. */
        private static double[] spectrum(Tensor matrix) {
            Tensor exact = matrix.contiguous().to(Device.CPU).to(DType.F64);
            double[] ascending = Decompositions.symmetricEigenvalues(exact).toDoubles();
            Arrays.sort(ascending);
            double[] descending = new double[ascending.length];
            Arrays.setAll(descending, k -> ascending[ascending.length - 1 - k]);
            return descending;
        }

        List<MatrixStage> stages() {
            return spectra.entrySet().stream()
                    .map(entry -> MatrixStage.of(entry.getKey(), entry.getValue()))
                    .toList();
        }
    }
}
