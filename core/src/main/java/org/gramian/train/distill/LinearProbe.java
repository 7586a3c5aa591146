package org.gramian.train.distill;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.batch.Batch;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.BatchSlot;
import org.gramian.image.batch.LoadRequest;
import org.gramian.image.batch.Prefetch;
import org.gramian.image.batch.Rendering;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.image.dataset.protocol.Fold;
import org.gramian.image.dataset.protocol.Protocols;
import org.gramian.linear.LabelledRows;
import org.gramian.linear.LinearModel;
import org.gramian.linear.SolverListener;
import org.gramian.linear.Svm;
import org.gramian.model.Logits;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Linear probe: how well a linear support vector machine with C = 1 classifies labelled images by the averaged feature maps of the
 * frozen student, on center crops.
 *
 * <p>The images are those of the first fold of the dataset's default protocol: the machine learns from its training set and is tested
 * on its validation set, or on its test set where there is none; at most {@value #MOST} images of each. They are decoded once.
 */
public final class LinearProbe implements AutoCloseable {
    private static final int MOST = 5000;
    private static final int BATCH = 64;

    /** Decoded crops of a set. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Part(List<Tensor> batches, int[] labels) {}

    private final Dataset dataset;
    private final Part training;
    private final Part testing;

    private LinearProbe(Dataset dataset, Part training, Part testing) {
        this.dataset = dataset;
        this.training = training;
        this.testing = testing;
    }

    /**
     * Decodes the images of a labelled dataset.
     *
     * @param folder in any layout
     * @param backbone the student, whose preprocessing is used
     * @param size side of the crops
     * @param seed of the protocol
     * @param progress receives the number of images so far
     * @throws IllegalArgumentException if the dataset cannot be split
     */
    public static LinearProbe open(
            Path folder, Backbone backbone, int size, long seed, Device device, int threads, LongConsumer progress)
            throws IOException {
        Dataset dataset = Layouts.open(folder, Optional.empty());
        Fold fold = Protocols.defaultFor(dataset)
                .plan(dataset, Duplicates.NONE, seed)
                .folds()
                .getFirst();
        Crops crops = CropPlan.parse("center").withSize(size).testing();
        Rendering rendering =
                new Rendering(new ImageReader(ImageLimits.DEFAULT)::read, crops, backbone.preprocessing());
        List<Integer> tested = fold.validation().isEmpty() ? fold.test() : fold.validation();
        List<Sample> train = some(dataset, fold.train());
        try (Scope scope = Scope.open()) {
            Part training = decoded(train, rendering, device, threads, progress);
            Part testing = decoded(
                    some(dataset, tested), rendering, device, threads, done -> progress.accept(train.size() + done));
            training.batches.forEach(scope::release);
            testing.batches.forEach(scope::release);
            return new LinearProbe(dataset, training, testing);
        }
    }

    /** Returns evenly spaced samples. */
    private static List<Sample> some(Dataset dataset, List<Integer> indices) {
        int count = Math.min(MOST, indices.size());
        return IntStream.range(0, count)
                .mapToObj(i -> dataset.samples().get(indices.get((int) ((long) i * indices.size() / count))))
                .toList();
    }

    private static Part decoded(
            List<Sample> samples, Rendering rendering, Device device, int threads, LongConsumer progress) {
        List<LoadRequest> works = samples.stream()
                .map(sample -> new LoadRequest(sample, List.of(0)))
                .toList();
        List<Tensor> batches = new ArrayList<>();
        List<Integer> labels = new ArrayList<>();
        try (BatchLoader loader = new BatchLoader(rendering, works, Prefetch.of(BATCH, threads))) {
            while (loader.hasNext()) {
                try (Scope scope = Scope.open();
                        Batch batch = loader.next()) {
                    List<BatchSlot> slots = batch.slots();
                    long[] readable = IntStream.range(0, slots.size())
                            .filter(i -> slots.get(i).problem().isEmpty())
                            .mapToLong(i -> i)
                            .toArray();
                    for (long i : readable) {
                        labels.add(samples.get(slots.get((int) i).request()).label());
                    }
                    if (readable.length > 0) {
                        Tensor rows = batch.tensor().select(0, Tensors.ofLongs(readable, Shape.of(readable.length)));
                        batches.add(scope.keep(rows.to(DType.BF16).to(device)));
                    }
                    progress.accept(labels.size());
                }
            }
        }
        return new Part(batches, labels.stream().mapToInt(Integer::intValue).toArray());
    }

    /** Returns the number of images. */
    public int count() {
        return training.labels.length + testing.labels.length;
    }

    /** Returns a description, as {@code 9469 training and 3925 test images of 10 classes}. */
    public String text() {
        return training.labels.length + " training and " + testing.labels.length + " test images of "
                + dataset.classes().size() + " classes";
    }

    /**
     * Measures a student.
     *
     * @return share of correctly classified test images; empty if its features are not finite
     */
    OptionalDouble accuracy(Student student) {
        try (Scope _ = Scope.open()) {
            Tensor rows = features(student, training);
            LinearModel model;
            try {
                int[] groups = IntStream.range(0, training.labels.length).toArray();
                LabelledRows labelled = LabelledRows.of(
                        rows, training.labels, groups, dataset.classes().size());
                model = new Svm(OptionalDouble.of(1)).fit(labelled, SolverListener.NONE);
            } catch (IllegalArgumentException notFinite) {
                return OptionalDouble.empty();
            }
            double[] scores = features(student, testing)
                    .linear(model.weight(), model.bias())
                    .toDoubles();
            int classes = dataset.classes().size();
            int correct = 0;
            for (int i = 0; i < testing.labels.length; i++) {
                int top = Logits.of(Arrays.copyOfRange(scores, i * classes, (i + 1) * classes))
                        .top();
                correct += top == testing.labels[i] ? 1 : 0;
            }
            return OptionalDouble.of((double) correct / testing.labels.length);
        }
    }

    /** Computes averaged maps {@code [n, c]}, float32 on the CPU, by the running statistics. */
    private static Tensor features(Student student, Part part) {
        List<Tensor> all = new ArrayList<>();
        for (Tensor crops : part.batches) {
            try (Scope scope = Scope.open();
                    Tape tape = Tape.inference()) {
                Bindings bound = Bindings.of(student.backbone().variables(tape));
                Var maps = student.matched().apply(tape.constant(crops.to(DType.F32)), bound);
                Tensor averages = FeatureMaps.globalAveragePool(maps).value();
                Tensor rows = averages.reshape(averages.size(0), averages.size(1));
                all.add(scope.keep(rows.to(Device.CPU).copy()));
            }
        }
        return Tensors.concat(all, 0);
    }

    @Override
    public void close() {
        training.batches.forEach(Tensor::close);
        testing.batches.forEach(Tensor::close);
    }
}
