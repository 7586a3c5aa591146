package org.gramian.train;

import java.util.Map;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.CudaProgram;
import org.gramian.tensor.cuda.CudaProgram.LaunchConfig;

/** State of captured steps in GPU memory: learning rate, place in the epoch, losses and outcome. */
public final class GpuStepState implements AutoCloseable {
    static final CudaProgram PROGRAM = CudaProgram.of(GpuStepState.class, "step.cu", Map.of());

    // Indices of the values in step.cu that the host sets or reads.
    private static final int WRONG = 1;
    private static final int LOSS = 2;
    private static final int CORRECT = 3;
    private static final int STEPS = 4;
    private static final int FIRST = 5;
    private static final int BATCH_LOSS = 6;
    private static final int SCALE = 11;
    private static final int DROPOUT = 12;
    private static final int COUNT = 13;

    /**
     * Outcome of the steps since {@link #begin}.
     *
     * @param wrong whether the next step had a non-finite value and was not taken
     * @param last loss of the last batch times its crops, taken or not
     */
    public record Outcome(int steps, double loss, int correct, boolean wrong, double last) {}

    private static final int DROPOUT_BLOCKS = 1024;

    private final Tensor cells;

    public GpuStepState(Device device) {
        try (Scope scope = Scope.open()) {
            cells = Tensors.zeros(Shape.of(COUNT), DType.F64, device);
            scope.release(cells);
        }
        set(SCALE, 1);
    }

    Tensor tensor() {
        return cells;
    }

    /** Begins to count, before steps whose examples begin at a place of the order. */
    public void begin(int first) {
        set(WRONG, 0);
        set(LOSS, 0);
        set(CORRECT, 0);
        set(STEPS, 0);
        set(FIRST, first);
    }

    /**
     * Sets what the next step needs, in one launch.
     *
     * @param correction1 {@code 1 − β₁ᵗ}
     * @param correction2 {@code 1 − β₂ᵗ}
     */
    void setStep(double rate, double correction1, double correction2, double average) {
        PROGRAM.launch("set_step", new LaunchConfig(1, 1, 1, 1, 1), cells, rate, correction1, correction2, average);
    }

    /** Sets the key from which the dropout of the following steps is drawn, below 2^52. */
    public void setDropout(long key) {
        set(DROPOUT, (double) key);
    }

    /**
     * Draws factors {@code [n, columns]} of dropout: 0 or {@code kept}, by the key in the cells and the places of examples.
     *
     * @param places of the batch's examples in the training set, I64 {@code [n]}
     * @param dropped how many of 2^24 draws give 0
     */
    public Tensor dropout(Tensor places, long columns, int dropped, float kept) {
        Tensor factors = Tensors.empty(Shape.of(places.size(0), columns), DType.F32, places.device());
        PROGRAM.launch(
                "dropout",
                new LaunchConfig(DROPOUT_BLOCKS, 1, 1, 256, 1),
                cells,
                places,
                factors,
                factors.shape().elements(),
                columns,
                dropped,
                kept);
        return factors;
    }

    private void set(int cell, double value) {
        PROGRAM.launch("set_cell", new LaunchConfig(1, 1, 1, 1, 1), cells, cell, value);
    }

    public Outcome read() {
        double[] values = cells.toDoubles();
        return new Outcome(
                (int) values[STEPS], values[LOSS], (int) values[CORRECT], values[WRONG] != 0, values[BATCH_LOSS]);
    }

    /** Writes the places and labels of the next batch. */
    public void nextPlaces(Tensor order, Tensor labels, Tensor places, Tensor batchLabels) {
        int batch = Math.toIntExact(places.size(0));
        PROGRAM.launch("next_places", LaunchConfig.over(batch), cells, order, labels, places, batchLabels, batch);
    }

    /** Adds loss and accuracy of a batch, before the backward pass frees its scores. */
    public void observe(Tensor scores, Tensor labels, Tensor loss) {
        try (Scope _ = Scope.open()) {
            PROGRAM.launch(
                    "observe",
                    new LaunchConfig(1, 1, 1, 1024, 1),
                    scores.contiguous(),
                    labels,
                    loss,
                    cells,
                    Math.toIntExact(scores.size(0)),
                    Math.toIntExact(scores.size(1)));
        }
    }

    /** Counts the step to which the batch belongs that was observed last. */
    void count() {
        PROGRAM.launch("count", new LaunchConfig(1, 1, 1, 1, 1), cells);
    }

    @Override
    public void close() {
        cells.close();
    }
}
