package org.gramian.spark.train;

import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.StreamSupport;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.broadcast.Broadcast;
import org.gramian.model.Model;
import org.gramian.spark.executor.ExecutorModels;
import org.gramian.spark.executor.TaskResources;
import org.gramian.tensor.Scope;

/**
 * Something that the head computes on the crops of a group of shards that an order asks for: packed shards come in, and one result
 * goes out as {@link ObjectBytes}.
 *
 * @param order from the driver, a {@link StepOrder} as bytes
 * @param form of the features
 * @param device where executors compute, as a {@link TrainingJob} says it
 * @param work what is computed
 */
record HeadTask<T extends Serializable>(Broadcast<byte[]> order, FeatureForm form, String device, Work<T> work)
        implements FlatMapFunction<Iterator<byte[]>, byte[]> {
    /** What is computed of a group. */
    interface Work<T extends Serializable> extends Serializable {
        T on(Sight sight);

        /** Of what type it is. */
        Class<T> result();
    }

    /**
     * What is seen of a group.
     *
     * @param model the head with the order's parameters
     * @param order what is asked for
     * @param shards in their order; one that was passed need not stay in memory
     * @param form of their features
     */
    record Sight(Model model, StepOrder order, Iterator<FeatureShard> shards, FeatureForm form) {}

    @Override
    public Iterator<byte[]> call(Iterator<byte[]> packed) {
        TaskResources resources = TaskResources.of(TaskContext.get(), device);
        resources.apply();
        ExecutorModels.freeUnused(); // the backbone, whose features these are
        StepOrder requested = ObjectBytes.read(order.value(), StepOrder.class);
        Iterator<FeatureShard> shards = StreamSupport.stream(
                        Spliterators.spliteratorUnknownSize(packed, Spliterator.ORDERED), false)
                .map(FeatureShard::open)
                .iterator();
        try (Scope _ = Scope.open();
                Model model = requested.model(resources.device())) {
            return List.of(ObjectBytes.of(work.on(new Sight(model, requested, shards, form))))
                    .iterator();
        }
    }
}
