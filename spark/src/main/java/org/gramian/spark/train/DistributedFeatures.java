package org.gramian.spark.train;

import static org.apache.spark.sql.functions.col;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.SerializableConfiguration;
import org.gramian.basis.QuotedText;
import org.gramian.basis.Sha256;
import org.gramian.image.crop.Crops;
import org.gramian.run.config.RunConfig;
import org.gramian.spark.executor.ImageColumn;
import org.gramian.spark.executor.SharedModel;
import org.gramian.tensor.Libtorch;
import org.gramian.train.feature.FeatureRecipe;
import org.gramian.train.feature.FrozenBackbone;

/**
 * Features of a run: training crops of the training set and test crops of the validation set.
 *
 * @param path folder of both tables
 * @param catalogue the images
 * @param config how they are seen
 * @param training where features to train on are kept
 * @param heldBack feature store of the validation set
 */
record DistributedFeatures(
        String path, ImageCatalog catalogue, RunConfig config, FeatureStore training, FeatureStore heldBack) {
    /** Column of the image in what tasks are given. */
    private static final int PICTURE = 3;

    /** Names the tables of a run: nothing is computed yet. */
    static DistributedFeatures in(
            RemoteRunFolder folder, ImageCatalog catalogue, RunConfig config, FrozenBackbone network) {
        FeatureRecipe recipe = new FeatureRecipe(
                network.backbone().name(),
                network.backbone().layer(),
                network.fingerprint(),
                network.preprocessing(),
                config.data().featureType(),
                "spark, libtorch " + Libtorch.load().version());
        String all = recipe.fingerprint() + "\n" + catalogue.fingerprint() + "\n"
                + config.data().crops().text()
                + config.data().testCrops().map(plan -> "\ntest " + plan.text()).orElse("")
                + "\n" + config.recipe().seed();
        String path = folder.path("features-"
                + Sha256.hex(Sha256.of(all.getBytes(StandardCharsets.UTF_8))).substring(0, 16));
        Crops toTrain = config.data().crops().training(config.recipe().seed());
        return new DistributedFeatures(
                path,
                catalogue,
                config,
                new FeatureStore(path + "/training", form(toTrain, config, network)),
                new FeatureStore(
                        path + "/held-back", form(config.data().testPlan().testing(), config, network)));
    }

    private static FeatureForm form(Crops crops, RunConfig config, FrozenBackbone network) {
        return new FeatureForm(
                crops.count(),
                network.backbone().features(crops.size(), crops.size()).sizes(),
                config.data().featureType());
    }

    /** Returns whether there is a validation set. */
    boolean judges() {
        return catalogue.training() < catalogue.all();
    }

    /** Computes what is missing. */
    void complete(SharedModel model, String device, FeatureStore.Progress progress) throws IOException {
        complete(training, model, device, progress);
        if (judges()) {
            complete(heldBack, model, device, progress);
        }
    }

    private void complete(FeatureStore store, SharedModel model, String device, FeatureStore.Progress progress)
            throws IOException {
        SparkSession spark = catalogue.numbered().sparkSession();
        boolean learned = store.equals(training);
        ImageColumn column = new ImageColumn(
                PICTURE, new SerializableConfiguration(spark.sessionState().newHadoopConf()));
        FeatureTask.CropText crops = new FeatureTask.CropText(
                (learned ? config.data().crops() : config.data().testPlan()).text(),
                config.recipe().seed(),
                learned);
        store.complete(
                catalogue.numbered().where(col("held").equalTo(!learned)).select("name", "label", "number"),
                catalogue::images,
                new FeatureTask(model, column, crops, config.data().featureType(), device),
                progress);
    }

    /**
     * Readable training images of each class.
     *
     * @throws IllegalArgumentException if a class has none
     */
    long[] counts() {
        SparkSession spark = catalogue.numbered().sparkSession();
        long[] counts = new long[catalogue.classes().size()];
        training.rows(spark)
                .where(col("reason").isNull().and(col("crop").equalTo(0)))
                .groupBy("label")
                .count()
                .collectAsList()
                .forEach(row -> counts[row.getInt(0)] = row.getLong(1));
        for (int label = 0; label < counts.length; label++) {
            if (counts[label] == 0) {
                throw new IllegalArgumentException("no readable training image of "
                        + QuotedText.text(catalogue.classes().get(label)) + reason(spark, label)
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
