package org.gramian.spark.train;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.spark.sql.SparkSession;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.image.dataset.protocol.Protocols;
import org.gramian.run.InitialModel;
import org.gramian.run.config.Choices;
import org.gramian.run.config.ConfigException;
import org.gramian.run.config.DefaultsContext;
import org.gramian.run.config.Keys;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.tensor.Device;
import org.gramian.train.feature.FrozenBackbone;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.Checkpointing;
import org.gramian.train.loop.DistributedStage;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.PoolingRace;
import org.gramian.train.loop.TrainEvent;

/**
 * Trains the new layers of a model on a cluster: features of the frozen backbone are computed once by its executors and kept as a
 * table, and every step's gradient is gathered from them. What comes out is what one machine would find with the same images,
 * settings and batches, up to the order in which gradients are added.
 *
 * <p>An interrupted run resumes: existing features are not recomputed, and steps continue from the last checkpoint.
 * What a lost executor was computing, Spark has computed again by others.
 *
 * @param weights of pretrained backbones
 * @param control listeners and cancellation
 */
public record SparkTrainer(WeightStore weights, Control control) {
    /** Placeholders for layout and protocol, which a table does not have. */
    private static final String LAYOUT = "folders";

    /**
     * Listeners and cancellation.
     *
     * @param events receives training events
     * @param remarks receives warnings, one sentence each
     * @param breaks checked before each step and between two appends of features
     * @param keepEvery how much work may be lost when the driver fails; besides, each epoch ends with a checkpoint
     */
    public record Control(
            Consumer<TrainEvent> events, Consumer<String> remarks, Cancellation breaks, Duration keepEvery) {
        /** No listeners, no cancellation. */
        public static final Control NONE =
                new Control(_ -> {}, _ -> {}, Cancellation.onRequest(), Checkpointing.DEFAULT_INTERVAL);
    }

    /** Returns a trainer with the default weights folder and without listeners; the driver computes on the CPU. */
    public static SparkTrainer usual() {
        return new SparkTrainer(WeightStore.ofProcess(), Control.NONE);
    }

    /** The same under control. */
    public SparkTrainer under(Control other) {
        return new SparkTrainer(weights, other);
    }

    /**
     * Trains into the folder of a job. A run that is at its end is not trained again: what it came to is returned, and a remark
     * says so.
     *
     * @throws IllegalArgumentException if the table or the options are invalid; the message has advice
     * @throws IOException if the folder holds a run that may not be resumed, or one with other images or settings
     * @throws InterruptedTrainingException if cancelled before the first step
     * @throws org.gramian.train.loop.NonFiniteLossException if the loss, or a gradient, is no number any more
     */
    public TrainingOutcome train(TrainingJob job) throws IOException {
        SparkSession spark = job.images().sparkSession();
        Settings settings = settings(job);
        RunConfig config = RunConfig.of(settings);
        try (RemoteRunFolder folder = RemoteRunFolder.open(
                        job.folder(), job.resume(), spark.sessionState().newHadoopConf());
                FrozenBackbone network = InitialModel.network(config.network(), weights, Device.CPU, control.remarks)) {
            DistributedStage.requireSpreadable(config.recipe(), config.network().head(2, Integer.MAX_VALUE));
            ImageCatalog.Holding holding = new ImageCatalog.Holding(
                    config.data().validation(), config.recipe().seed());
            try (ImageCatalog catalogue = ImageCatalog.of(job.images(), job.columns(), holding)) {
                return new DistributedRun(job, settings, network, control).run(catalogue, folder);
            } catch (IOException failed) {
                throw folder.named(failed);
            }
        }
    }

    private Settings settings(TrainingJob job) throws IOException {
        int images = Math.toIntExact(job.images().count());
        Settings requested = job.requested();
        if (requested.find(Keys.POOLING).filter(PoolingRace.AUTO::equals).isPresent()) {
            throw new ConfigException(Keys.POOLING + ": expected a pooling, found auto, which runs on one"
                    + " machine only; run 'gramian train' on some of the images and use the pooling it selects");
        }
        if (requested.find(Keys.STAGE1_REFIT).flatMap(refit -> refit).isPresent()) {
            throw new ConfigException(Keys.STAGE1_REFIT
                    + ": expected none on Spark, where no machine holds all descriptors, found "
                    + requested.get(Keys.STAGE1_REFIT).orElseThrow().text());
        }
        if (requested.find(Keys.TENSORBOARD).orElse(false)) {
            throw new ConfigException(Keys.TENSORBOARD
                    + ": expected false on Spark, found true; history.csv in the run's folder has the same values");
        }
        // Executors train by gradients; a classifier in closed form would need all descriptors on the driver.
        Settings trained =
                requested.has(Keys.CLASSIFIER) ? requested : requested.with(Keys.CLASSIFIER, Optional.empty());
        Settings frozen = trained.has(Keys.STAGE2_EPOCHS) ? trained : trained.with(Keys.STAGE2_EPOCHS, 0);
        return Choices.complete(
                frozen.has(Keys.STAGE1_REFIT) ? frozen : frozen.with(Keys.STAGE1_REFIT, Optional.empty()),
                new DefaultsContext(LAYOUT, Protocols.parse("holdout"), images, weights.names(), Device.Kind.CPU));
    }
}
