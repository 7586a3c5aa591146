package org.gramian.train.loop;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.function.BiConsumer;
import org.gramian.autodiff.Classification;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Scheduler;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.CudaGraphOptimizer;
import org.gramian.train.ParameterGroup;

/**
 * Loss and gradients of one batch: the forward pass, cross-entropy and backward pass of eager, CUDA-graph and distributed steps.
 *
 * <p>The loss of a batch of n crops with scores z and targets q, both {@code [n, k]}, is {@code ℓ = −1/n Σᵢ Σⱼ qᵢⱼ log softmax(zᵢ)ⱼ}.
 */
final class BatchGradient implements AutoCloseable {
    private final TrainableModel model;
    private final Tape tape;
    private final TrainableModel.Forward forward;
    private final Var loss;

    /**
     * Computes scores and loss.
     *
     * @param input features {@code [n, c, h, w]} or images {@code [n, 3, h, w]}
     * @param targets {@code [n, k]}
     * @param dropout of descriptors {@code [n, d]}
     */
    BatchGradient(TrainableModel model, Tensor input, Tensor targets, Dropout.OfBatch dropout) {
        this(Scheduler.SEQUENTIAL, model, input, targets, dropout);
    }

    /** Computes scores and loss; the scheduler runs parts of the backward pass. */
    BatchGradient(Scheduler scheduler, TrainableModel model, Tensor input, Tensor targets, Dropout.OfBatch dropout) {
        this.model = model;
        this.tape = Tape.recording(scheduler);
        try {
            this.forward = model.forward(tape, input, dropout);
            this.loss = Classification.crossEntropy(forward.scores(), targets);
        } catch (RuntimeException | Error failed) {
            tape.close();
            throw failed;
        }
    }

    /** Returns the class scores {@code [n, k]}; they belong to the tape. */
    Tensor scores() {
        return forward.scores().value();
    }

    /** Returns the mean loss ℓ, a scalar that belongs to the tape. */
    Tensor loss() {
        return loss.value();
    }

    /** Lets the backward pass compute a part of the optimizer's step, see {@link CudaGraphOptimizer#registerHooks}. */
    void registerHooks(CudaGraphOptimizer optimizer, List<ParameterGroup> groups) {
        optimizer.registerHooks(tape, groups, variables());
    }

    /**
     * Computes the gradients of {@code share·ℓ} once.
     *
     * @param share of the batch in the step: its crops by those of the step
     * @param use receives the parameters that a gradient reached, with their variables, and the gradients, which are freed after it
     */
    void backward(double share, BiConsumer<SequencedMap<Parameter, Var>, Gradients> use) {
        try (Gradients gradients = share == 1 ? tape.backward(loss) : tape.backward(loss, upstream(share))) {
            SequencedMap<Parameter, Var> reached = variables();
            reached.values().removeIf(variable -> !gradients.has(variable));
            use.accept(reached, gradients);
        }
    }

    private SequencedMap<Parameter, Var> variables() {
        SequencedMap<Parameter, Var> variables = new LinkedHashMap<>();
        model.groups()
                .forEach((part, group) -> variables.putAll(group.variables(
                        Objects.requireNonNull(forward.variables().get(part)))));
        return variables;
    }

    private Tensor upstream(double share) {
        Tensor value = loss.value();
        return Tensors.full(share, value.shape(), value.type(), value.device());
    }

    @Override
    public void close() {
        tape.close();
    }
}
