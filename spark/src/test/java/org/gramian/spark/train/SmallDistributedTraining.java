package org.gramian.spark.train;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;
import org.gramian.autodiff.Parameter;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.image.ImageLimits;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Model;
import org.gramian.run.InitialModel;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.spark.testing.SmallModel;
import org.gramian.spark.testing.Stripes;
import org.gramian.tensor.Device;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.feature.FeatureExtraction;
import org.gramian.train.feature.FeatureExtractor;
import org.gramian.train.feature.FrozenBackbone;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.TrainingContext;
import org.gramian.train.loop.TrainingData;
import org.gramian.train.loop.TwoStageTraining;
import org.gramian.train.recipe.Schedule;

/** Small dataset and recipe, trained on Spark and on one machine. */
final class SmallDistributedTraining {
    static final String POOLING = "conv:4/rbf/spd:3/relu/triu/root/l2";

    private SmallDistributedTraining() {}

    /** Returns settings with a batch size of 8 crops. */
    static Settings requested(String crops, int epochs) {
        return Settings.NONE
                .with("network.backbone", "filters")
                .with("network.pooling", POOLING)
                .with("data.crops", CropPlan.parse(crops))
                .with("optimizer.batch", 8)
                .with("stage1.epochs", epochs)
                .with("stage1.schedule", Schedule.parse("constant"))
                .with("data.validation", 0.0);
    }

    /** Returns a table {@code path, label, validation}, in which every n-th image is a validation image; none for n = 0. */
    static Dataset<Row> table(SparkSession spark, List<Path> images, int validationEvery) {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < images.size(); i++) {
            rows.add(RowFactory.create(
                    images.get(i).toString(),
                    SmallModel.CLASSES.get(Stripes.label(i)),
                    isValidation(i, validationEvery)));
        }
        return spark.createDataFrame(rows, StructType.fromDDL("path STRING, label STRING, validation BOOLEAN"))
                .repartition(3);
    }

    private static boolean isValidation(int image, int validationEvery) {
        return validationEvery > 0 && image % validationEvery == validationEvery - 1;
    }

    /** Returns a trainer with a listener and a cancellation. */
    static SparkTrainer trainer(Consumer<TrainEvent> listener, Cancellation cancellation) {
        return SparkTrainer.create()
                .withContext(
                        TrainingContext.of(Device.CPU).withListener(listener).withCancellation(cancellation));
    }

    /** Collects the loss of each step. */
    static final class Losses {
        private final List<Double> losses = new ArrayList<>();
        private double sum;
        private int seen;

        void accept(TrainEvent event) {
            if (event instanceof TrainEvent.Stepped step) {
                int before = step.step() == 1 ? 0 : seen;
                double former = step.step() == 1 ? 0 : sum;
                losses.add((step.loss() * step.seen() - former) / (step.seen() - before));
                sum = step.loss() * step.seen();
                seen = step.seen();
            }
        }

        int count() {
            return losses.size();
        }

        double[] all() {
            return losses.stream().mapToDouble(Double::doubleValue).toArray();
        }
    }

    /** Returns the losses of training on one machine with the code of the command line. */
    static double[] onOneMachine(List<Path> images, int validationEvery, RunConfig config) throws IOException {
        return onOneMachine(images, validationEvery, config, _ -> {});
    }

    /** Changes the last bit of one value of every parameter of the head, less than another order of summation does. */
    static void nudge(Model model) {
        for (Parameter parameter : model.headParameters().all()) {
            MemorySegment numbers = parameter.value().data();
            numbers.set(ValueLayout.JAVA_FLOAT, 0, Math.nextUp(numbers.get(ValueLayout.JAVA_FLOAT, 0)));
        }
    }

    /** Returns the losses after a change of the model before the first step. */
    static double[] onOneMachine(List<Path> images, int validationEvery, RunConfig config, Consumer<Model> begun)
            throws IOException {
        Losses losses = new Losses();
        List<Sample> training = new ArrayList<>();
        List<Sample> validation = new ArrayList<>();
        for (int i = 0; i < images.size(); i++) {
            Sample sample = new Sample(images.get(i).toString(), Stripes.label(i), images.get(i));
            (isValidation(i, validationEvery) ? validation : training).add(sample);
        }
        try (FrozenBackbone network =
                        InitialModel.network(config.network(), WeightStore.ofProcess(), Device.CPU, _ -> {});
                Model model = InitialModel.model(
                        config.network().head(SmallModel.CLASSES.size(), training.size()),
                        config.recipe().seed(),
                        network)) {
            begun.accept(model);
            FeatureExtractor extractor = new FeatureExtractor(
                    network, FeatureExtractor.DEFAULT_BATCH, config.options().featureType());
            TrainingData material = new TrainingData(
                    new TrainingData.Parts(training, validation, List.of()),
                    config.options().crops().training(config.recipe().seed()),
                    config.options().crops().testing(),
                    new FeatureExtraction(extractor, ImageLimits.DEFAULT, Optional.empty()));
            TrainingContext context =
                    TrainingContext.of(Device.CPU).withThreads(2).withListener(losses::accept);
            new TwoStageTraining(model, config.recipe(), material, context).run((_, _) -> {});
        }
        return losses.all();
    }
}
