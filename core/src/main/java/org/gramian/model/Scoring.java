package org.gramian.model;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.image.Reading;
import org.gramian.image.batch.Batch;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.Place;
import org.gramian.image.batch.Prefetch;
import org.gramian.image.batch.Rendering;
import org.gramian.image.batch.Work;
import org.gramian.image.dataset.Sample;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * Applies a model to files of pictures, many at a time: decoded ahead by several threads, computed in batches of one fixed
 * size, handed out in order.
 *
 * @param model the model
 * @param rendering how files become crops
 * @param prefetch crops at a time, and threads that decode
 */
public record Scoring(Model model, Rendering rendering, Prefetch prefetch) {
    /** Crops at a time unless told otherwise. */
    public static final int DEFAULT_BATCH = 16;

    /** Which rows are wanted of a model. */
    public enum Rows {
        /** Scores before the softmax, one per class. */
        SCORES,
        /** Descriptors, what the pooling ends with. */
        DESCRIPTORS
    }

    /** For a model with its card: as it was trained to see pictures. */
    public static Scoring of(Model model, ModelCard card, Function<Path, Reading> reader) {
        Rendering rendering = new Rendering(reader, card.crops().testing(), card.preprocessing());
        return new Scoring(model, rendering, Prefetch.of(DEFAULT_BATCH));
    }

    /**
     * Computes rows of every crop of every picture.
     *
     * @param progress told the number of pictures done so far
     */
    public void run(List<Sample> samples, Rows wanted, RowSink sink, LongConsumer progress) {
        int crops = rendering.crops().count();
        PictureRows collected = new PictureRows(crops, sink, progress);
        try (BatchLoader loader = new BatchLoader(rendering, Work.all(samples, rendering.crops()), prefetch)) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    float[][] rows = compute(model, batch::tensor, wanted);
                    for (int i = 0; i < batch.places().size(); i++) {
                        Place place = batch.places().get(i);
                        collected.add(place.work(), rows[i], place.problem());
                    }
                }
            }
        }
    }

    /** Rows of pictures {@code [n, 3, h, w]}, which are made in a scope that ends with the computation. */
    static float[][] compute(Model model, Supplier<Tensor> crops, Rows wanted) {
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Var pictures = tape.constant(Tensors.to(crops.get(), model.device()));
            Var features = model.backbone()
                    .apply(pictures, Bindings.of(model.backboneParameters().variables(tape)));
            Bindings head = Bindings.of(model.headParameters().variables(tape));
            Var rows = wanted == Rows.SCORES
                    ? model.head().apply(features, head, Head.Mode.PREDICTING)
                    : model.head().describe(features, head);
            return toRows(rows.value());
        }
    }

    /** The rows of a matrix, in single precision. */
    public static float[][] toRows(Tensor matrix) {
        Tensor host = Views.contiguous(Tensors.to(Tensors.to(matrix, DType.F32), Device.CPU));
        int columns = Math.toIntExact(host.size(1));
        MemorySegment data = host.data();
        float[][] rows = new float[Math.toIntExact(host.size(0))][columns];
        for (int i = 0; i < rows.length; i++) {
            MemorySegment.copy(data, ValueLayout.JAVA_FLOAT, 4L * i * columns, rows[i], 0, columns);
        }
        return rows;
    }
}
