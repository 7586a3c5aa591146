package org.gramian.spark.train;

import java.io.Serializable;
import java.util.Iterator;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.util.TaskCompletionListener;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.spark.executor.ExecutorModels;
import org.gramian.spark.executor.ImageColumn;
import org.gramian.spark.executor.SharedModel;
import org.gramian.spark.executor.TaskResources;
import org.gramian.tensor.DType;
import org.gramian.train.feature.FeatureExtractor;
import org.gramian.train.feature.FrozenBackbone;

/**
 * Computes the features of a partition's images: rows {@code name, label, number, image} become rows as {@link
 * FeatureStore} keeps them, one for each crop, or one with a reason.
 *
 * @param model whose backbone computes
 * @param input where images are
 * @param crops how they are cut
 * @param type in which features are kept
 * @param device where executors compute
 */
record FeatureTask(SharedModel model, ImageColumn input, CropText crops, DType type, String device)
        implements MapPartitionsFunction<Row, Row> {
    /**
     * Crops in words.
     *
     * @param plan as {@code center:224}
     * @param seed of random crops; ignored for test crops
     * @param training whether the crops are training crops
     */
    record CropText(String plan, long seed, boolean training) implements Serializable {
        Crops crops() {
            CropPlan parsed = CropPlan.parse(plan);
            return training ? parsed.training(seed) : parsed.testing();
        }
    }

    @Override
    public Iterator<Row> call(Iterator<Row> rows) {
        if (!rows.hasNext()) {
            return rows;
        }
        TaskContext task = TaskContext.get();
        TaskResources resources = TaskResources.of(task, device);
        ExecutorModels.Lease lease = ExecutorModels.acquire(model, resources.device());
        task.addTaskCompletionListener((TaskCompletionListener) _ -> lease.close());
        FrozenBackbone network = new FrozenBackbone(
                lease.model().backbone(),
                lease.model().backboneParameters(),
                lease.card().preprocessing(),
                model.fingerprint(),
                resources.device());
        FeatureExtractor extractor = new FeatureExtractor(network, FeatureExtractor.DEFAULT_BATCH, type);
        FeaturePass pass = new FeaturePass(rows, this, extractor, resources);
        task.addTaskCompletionListener((TaskCompletionListener) _ -> pass.close());
        return pass;
    }
}
