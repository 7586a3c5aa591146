package org.gramian.train.loop;

import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.model.Engine;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.Optimizer.ParameterGroup;

/** Trainable parameters of a stage and the loss of a batch. */
public interface Trainable {
    /** Returns all trained parameters, fitted ones included, by unique names. */
    SequencedMap<String, Parameter> parameters();

    /** Returns the parameter groups of the optimizer, each with one learning rate. */
    List<ParameterGroup> groups(double scale);

    Loss loss(Tape tape, Tensor input, Tensor targets, Dropout.BatchDropout dropout);

    /** Returns the first layer with a NaN or infinite value in a forward pass of a batch; empty if there is none. */
    Optional<String> nonFiniteLayer(Tensor input);

    /** Returns whether a CUDA graph can hold a step: it draws no random numbers on the host and reads no value back. */
    boolean isCapturable();

    /** Returns the largest {@code max |WᵀW − I|} of the parameters on a Stiefel manifold; empty if there are none. */
    default OptionalDouble orthogonality() {
        return OptionalDouble.empty();
    }

    /**
     * Loss of a batch on a tape, and what it was computed from.
     *
     * @param value ℓ, the mean over the batch, one element
     * @param scores {@code [n, k]}, valid until the backward pass; zeros for a loss without classes
     */
    record Loss(Var value, Tensor scores, SequencedMap<Parameter, Var> variables) {
        double mean() {
            return value.value().item();
        }

        /** Returns the number of rows whose highest score is that of their label. */
        int correct(int[] labels) {
            float[][] rows = Engine.toRows(scores);
            int correct = 0;
            for (int i = 0; i < labels.length; i++) {
                int top = 0;
                for (int k = 1; k < rows[i].length; k++) {
                    top = rows[i][k] > rows[i][top] ? k : top;
                }
                correct += top == labels[i] ? 1 : 0;
            }
            return correct;
        }

        /** Computes the gradients of {@code weight·ℓ}, once. */
        Gradients backward(double weight) {
            Tape tape = value.tape();
            Tensor loss = value.value();
            return weight == 1
                    ? tape.backward(value)
                    : tape.backward(value, Tensors.full(weight, loss.shape(), loss.type(), loss.device()));
        }
    }
}
