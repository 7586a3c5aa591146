package org.gramian.spark.train;

import java.io.Serializable;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.broadcast.Broadcast;
import org.gramian.model.Model;
import org.gramian.spark.executor.TaskResources;
import org.gramian.tensor.Scope;

/**
 * Something that the head computes on the crops of a shard that an order asks for.
 *
 * @param order from the driver
 * @param form of the features
 * @param device where executors compute, as a {@link TrainingJob} says it
 * @param work what is computed
 */
record HeadTask<T>(Broadcast<StepOrder> order, FeatureForm form, String device, Work<T> work)
        implements Function<FeatureShard, T> {
    /** What is computed of a shard. */
    @FunctionalInterface
    interface Work<T> extends Serializable {
        T on(Sight sight);
    }

    /**
     * What is seen of a shard.
     *
     * @param model the head with the order's parameters
     * @param order what is asked for
     * @param shard the crops at hand
     * @param form of their features
     */
    record Sight(Model model, StepOrder order, FeatureShard shard, FeatureForm form) {}

    @Override
    public T call(FeatureShard shard) {
        TaskResources resources = TaskResources.of(TaskContext.get(), device);
        resources.apply();
        try (Scope _ = Scope.open();
                Model model = order.value().model(resources.device())) {
            return work.on(new Sight(model, order.value(), shard, form));
        }
    }
}
