package org.gramian.spark.train;

import java.io.IOException;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.spark.sql.SparkSession;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.image.dataset.protocol.Protocols;
import org.gramian.run.InitialModel;
import org.gramian.run.config.ConfigException;
import org.gramian.run.config.DefaultResolver;
import org.gramian.run.config.DefaultsContext;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.tensor.Device;
import org.gramian.train.feature.FrozenBackbone;
import org.gramian.train.loop.DistributedStage;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.PoolingSelection;
import org.gramian.train.loop.TrainingContext;

/**
 * Trains pooling and classifier on a cluster. Executors compute the features of the frozen backbone once, as a table, and the
 * gradient of every step. The result equals that of one machine with the same images, settings and batches, up to the order in which
 * gradients are summed.
 *
 * <p>An interrupted run resumes: existing features are not recomputed, and steps continue from the last checkpoint. Spark repeats the
 * work of a lost executor.
 *
 * @param weights of pretrained backbones
 * @param context device of the driver, listener, cancellation (checked before each step and between two appends of features) and
 *     interval of checkpoints
 * @param warnings receives warnings, one sentence each
 */
public record SparkTrainer(WeightStore weights, TrainingContext context, Consumer<String> warnings) {
    /** Placeholder for the layout, which a table does not have. */
    private static final String LAYOUT = "folders";

    /** Returns a trainer with the default weights folder and without listeners; the driver computes on the CPU. */
    public static SparkTrainer create() {
        return new SparkTrainer(WeightStore.ofProcess(), TrainingContext.of(Device.CPU), _ -> {});
    }

    /** Returns this trainer with another context. */
    public SparkTrainer withContext(TrainingContext other) {
        return new SparkTrainer(weights, other, warnings);
    }

    /** Returns this trainer with another receiver of warnings. */
    public SparkTrainer withWarnings(Consumer<String> other) {
        return new SparkTrainer(weights, context, other);
    }

    /**
     * Trains into the folder of a job. A finished run is not trained again: its outcome is returned, with a warning.
     *
     * @throws IllegalArgumentException if the table or the options are invalid; the message has advice
     * @throws IOException if the folder holds a run that may not be resumed, or one with other images or settings
     * @throws InterruptedTrainingException if cancelled before the first step
     * @throws org.gramian.train.loop.NonFiniteLossException if the loss or a gradient is not finite
     */
    public TrainingOutcome train(TrainingJob job) throws IOException {
        SparkSession spark = job.images().sparkSession();
        Settings settings = settings(job);
        RunConfig config = RunConfig.of(settings);
        try (RemoteRunFolder folder = RemoteRunFolder.open(
                        job.folder(), job.resume(), spark.sessionState().newHadoopConf());
                FrozenBackbone network = InitialModel.network(config.network(), weights, context.device(), warnings)) {
            DistributedStage.requireSpreadable(config.recipe(), config.network().head(2, Integer.MAX_VALUE));
            ImageCatalog.ValidationSplit split = new ImageCatalog.ValidationSplit(
                    config.options().validation(), config.recipe().seed());
            try (ImageCatalog catalog = ImageCatalog.of(job.images(), job.columns(), split)) {
                return new DistributedRun(job, settings, network, this).run(catalog, folder);
            } catch (IOException failed) {
                throw folder.named(failed);
            }
        }
    }

    private Settings settings(TrainingJob job) throws IOException {
        int images = Math.toIntExact(job.images().count());
        Settings requested = job.requested();
        if (requested
                .find(TrainConfig::pooling)
                .filter(PoolingSelection.AUTO::equals)
                .isPresent()) {
            throw new ConfigException("network.pooling: expected a pooling, found auto, which runs on one"
                    + " machine only; run 'gramian train' on some of the images and use the pooling it selects");
        }
        if (requested.find(TrainConfig::stage1Refit).flatMap(refit -> refit).isPresent()) {
            throw new ConfigException(
                    "stage1.refit: expected none on Spark, where no machine holds all descriptors, found "
                            + requested
                                    .get(TrainConfig::stage1Refit)
                                    .orElseThrow()
                                    .text());
        }
        if (requested.find(TrainConfig::tensorboard).orElse(false)) {
            throw new ConfigException(
                    "tensorboard: expected false on Spark, found true; history.csv in the run's folder has the same values");
        }
        // Executors train by gradients; a classifier in closed form would need all descriptors on the driver.
        String reason = "executors train by gradients";
        return DefaultResolver.complete(
                requested
                        .orElse("network.classifier", Optional.empty(), reason)
                        .orElse("stage2.epochs", 0, reason)
                        .orElse("stage1.refit", Optional.empty(), reason),
                new DefaultsContext(LAYOUT, Protocols.parse("holdout"), images, weights.available(), Device.Kind.CPU));
    }
}
