package org.gramian.spark.train;

import static org.apache.spark.sql.functions.col;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.apache.spark.sql.SparkSession;
import org.gramian.basis.QuotedText;
import org.gramian.basis.Sha256;
import org.gramian.image.crop.Crops;
import org.gramian.run.config.RunConfig;
import org.gramian.spark.executor.ImageColumn;
import org.gramian.spark.executor.ModelContent.SharedModel;
import org.gramian.tensor.library.Libtorch;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.feature.FeatureRecipe;
import org.gramian.train.feature.FrozenBackbone;

/**
 * Features of a run: training crops of the training set and test crops of the validation set.
 *
 * @param path folder of both tables
 * @param catalog of the images
 * @param config of the run
 * @param training features of the training set
 * @param validation features of the validation set
 */
record DistributedFeatures(
        String path, ImageCatalog catalog, RunConfig config, FeatureStore training, FeatureStore validation) {
    /** Index of the column of images in the input of tasks. */
    private static final int IMAGE = 3;

    /** Returns the tables of a run; computes nothing. */
    static DistributedFeatures in(
            RemoteRunFolder folder, ImageCatalog catalog, RunConfig config, FrozenBackbone network) {
        FeatureRecipe recipe = new FeatureRecipe(
                network.backbone().name(),
                network.backbone().layer(),
                network.fingerprint(),
                network.preprocessing(),
                config.options().featureType(),
                "spark, libtorch " + Libtorch.load().version());
        String all = recipe.fingerprint() + "\n" + catalog.fingerprint() + "\n"
                + config.options().crops().text()
                + config.options()
                        .testCrops()
                        .map(plan -> "\ntest " + plan.text())
                        .orElse("")
                + "\n" + config.recipe().seed();
        String path = folder.path("features-"
                + Sha256.hex(Sha256.of(all.getBytes(StandardCharsets.UTF_8))).substring(0, 16));
        Crops trainingCrops = config.options().crops().training(config.recipe().seed());
        return new DistributedFeatures(
                path,
                catalog,
                config,
                new FeatureStore(path + "/training", layout(trainingCrops, config, network)),
                new FeatureStore(
                        path + "/validation", layout(config.options().testPlan().testing(), config, network)));
    }

    private static FeatureShard.Layout layout(Crops crops, RunConfig config, FrozenBackbone network) {
        return new FeatureShard.Layout(
                crops.count(),
                network.backbone().features(crops.size(), crops.size()).sizes(),
                config.options().featureType());
    }

    /** Returns whether there is a validation set. */
    boolean hasValidation() {
        return catalog.training() < catalog.all();
    }

    /** Computes missing features. */
    void complete(SharedModel model, String device, Consumer<TrainEvent.Task> progress) throws IOException {
        complete(training, model, device, progress);
        if (hasValidation()) {
            complete(validation, model, device, progress);
        }
    }

    private void complete(FeatureStore store, SharedModel model, String device, Consumer<TrainEvent.Task> progress)
            throws IOException {
        boolean forTraining = store.equals(training);
        ImageColumn column = ImageColumn.of(IMAGE, catalog.numbered().sparkSession());
        FeatureTask.CropText crops = new FeatureTask.CropText(
                (forTraining ? config.options().crops() : config.options().testPlan()).text(),
                config.recipe().seed(),
                forTraining);
        store.complete(
                catalog.numbered()
                        .where(col("validation").equalTo(!forTraining))
                        .select("name", "label", "number"),
                catalog::images,
                new FeatureTask(model, column, crops, config.options().featureType(), device),
                progress);
    }

    /**
     * Readable training images of each class.
     *
     * @throws IllegalArgumentException if a class has none
     */
    long[] counts() {
        SparkSession spark = catalog.numbered().sparkSession();
        long[] counts = new long[catalog.classes().size()];
        training.rows(spark)
                .where(col("reason").isNull().and(col("crop").equalTo(0)))
                .groupBy("label")
                .count()
                .collectAsList()
                .forEach(row -> counts[row.getInt(0)] = row.getLong(1));
        for (int label = 0; label < counts.length; label++) {
            if (counts[label] == 0) {
                throw new IllegalArgumentException("no readable training image of "
                        + QuotedText.text(catalog.classes().get(label)) + reason(spark, label)
                        + "; add some, or remove the class");
            }
        }
        return counts;
    }

    private String reason(SparkSession spark, int label) {
        return training
                .rows(spark)
                .where(col("reason").isNotNull().and(col("label").equalTo(label)))
                .select("name", "reason")
                .limit(1)
                .collectAsList()
                .stream()
                .findFirst()
                .map(row -> " (" + QuotedText.text(row.getString(0)) + ": " + row.getString(1) + ")")
                .orElse("");
    }
}
