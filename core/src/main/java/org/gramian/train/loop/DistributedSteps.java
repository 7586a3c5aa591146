package org.gramian.train.loop;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntToDoubleFunction;
import org.gramian.autodiff.Parameter;
import org.gramian.model.Model;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.Optimizer;
import org.gramian.train.ParameterGroup;

/** Steps of stage 1 whose gradients come from {@link HeadWorkers}; only the move itself is made here. */
final class DistributedSteps implements Steps {
    private final StageLoop.Setup setup;
    private final HeadWorkers workers;
    private final Optimizer optimizer;
    private final List<ParameterGroup> moved;

    DistributedSteps(StageLoop.Setup setup, HeadWorkers workers, Optimizer optimizer, HeadRates rates) {
        this.setup = setup;
        this.workers = workers;
        this.optimizer = optimizer;
        this.moved = setup.trainee().moved(rates);
    }

    @Override
    public Epoch epoch(int[] order, long epoch) {
        return new Epoch() {
            private int next;

            @Override
            public Taken take(TrainingProgress position, IntToDoubleFunction rate) {
                int[] places = Arrays.copyOfRange(order, next, Math.min(order.length, next + setup.stride()));
                next += places.length;
                return step(places, rate.applyAsDouble(position.step()), position);
            }

            @Override
            public void close() {}
        };
    }

    private Taken step(int[] places, double rate, TrainingProgress position) {
        StepPart whole = workers.step(places, setup.dropout(position.epoch()));
        if (whole.wrong() != null) {
            throw whole.wrong().in(position);
        }
        if (whole.crops() != places.length) {
            throw new IllegalStateException("expected gradients of " + places.length + " crops, found those of "
                    + whole.crops() + "; features are missing");
        }
        try (Scope _ = Scope.open()) {
            Map<Parameter, Tensor> gradients = gradients(whole);
            optimizer.setLearningRate(rate);
            optimizer.step(moved, gradients);
        }
        return new Taken(1, position.sums().plusAll(whole.loss(), whole.right(), whole.crops()));
    }

    private Map<Parameter, Tensor> gradients(StepPart whole) {
        Model model = setup.trainee().model();
        Map<Parameter, Tensor> gradients = new HashMap<>();
        whole.gradients().forEach((name, numbers) -> {
            Parameter parameter = model.headParameters().get(name);
            Tensor gradient = Tensors.copyOf(
                    MemorySegment.ofArray(numbers), DType.F32, parameter.spec().shape());
            gradients.put(parameter, Tensors.to(gradient, model.device()));
        });
        return gradients;
    }

    @Override
    public void close() {}
}
