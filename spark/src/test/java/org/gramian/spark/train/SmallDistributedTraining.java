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
import org.gramian.run.config.Keys;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.spark.testing.SmallModel;
import org.gramian.spark.testing.Stripes;
import org.gramian.tensor.Device;
import org.gramian.train.feature.FeatureExtraction;
import org.gramian.train.feature.FeatureExtractor;
import org.gramian.train.feature.FrozenBackbone;
import org.gramian.train.loop.TrainEvent;
import org.gramian.train.loop.TrainingContext;
import org.gramian.train.loop.TrainingData;
import org.gramian.train.loop.TwoStageTraining;
import org.gramian.train.recipe.Schedule;

/** Labelled images and a recipe for them, small enough that fifty steps take no time; trained on one machine, too. */
final class SmallDistributedTraining {
    static final String POOLING = "conv:4/rbf/spd:3/relu/triu/root/l2";

    private SmallDistributedTraining() {}

    /** What is asked for: steps of 8 crops. */
    static Settings requested(String crops, int epochs) {
        return Settings.NONE
                .with(Keys.BACKBONE, "filters")
                .with(Keys.POOLING, POOLING)
                .with(Keys.CROPS, CropPlan.parse(crops))
                .with(Keys.BATCH, 8)
                .with(Keys.STAGE1_EPOCHS, epochs)
                .with(Keys.STAGE1_SCHEDULE, Schedule.parse("constant"))
                .with(Keys.VALIDATION, 0.0);
    }

    /** A table {@code path, label, judges} of images, of which every {@code judging}-th judges; none for 0. */
    static Dataset<Row> table(SparkSession spark, List<Path> images, int judging) {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < images.size(); i++) {
            rows.add(RowFactory.create(
                    images.get(i).toString(), SmallModel.CLASSES.get(Stripes.label(i)), judges(i, judging)));
        }
        return spark.createDataFrame(rows, StructType.fromDDL("path STRING, label STRING, judges BOOLEAN"))
                .repartition(3);
    }

    private static boolean judges(int image, int judging) {
        return judging > 0 && image % judging == judging - 1;
    }

    /** The loss of each step. */
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

    /** The losses of training on one machine with the very code of the command line. */
    static double[] onOneMachine(List<Path> images, int judging, RunConfig config) throws IOException {
        return onOneMachine(images, judging, config, _ -> {});
    }

    /** Changes the last bit of one number of every parameter of the head: what rounding in another order does, and less. */
    static void nudge(Model model) {
        for (Parameter parameter : model.headParameters().all()) {
            MemorySegment numbers = parameter.value().data();
            numbers.set(ValueLayout.JAVA_FLOAT, 0, Math.nextUp(numbers.get(ValueLayout.JAVA_FLOAT, 0)));
        }
    }

    /** The same of a model that something was done to before the first step. */
    static double[] onOneMachine(List<Path> images, int judging, RunConfig config, Consumer<Model> begun)
            throws IOException {
        Losses losses = new Losses();
        List<Sample> training = new ArrayList<>();
        List<Sample> heldBack = new ArrayList<>();
        for (int i = 0; i < images.size(); i++) {
            Sample sample = new Sample(images.get(i).toString(), Stripes.label(i), images.get(i));
            (judges(i, judging) ? heldBack : training).add(sample);
        }
        try (FrozenBackbone network =
                        InitialModel.network(config.network(), WeightStore.ofProcess(), Device.CPU, _ -> {});
                Model model = InitialModel.model(
                        config.network().head(SmallModel.CLASSES.size(), training.size()),
                        config.recipe().seed(),
                        network)) {
            begun.accept(model);
            FeatureExtractor extractor = new FeatureExtractor(
                    network, FeatureExtractor.DEFAULT_BATCH, config.data().featureType());
            TrainingData material = new TrainingData(
                    new TrainingData.Parts(training, heldBack, List.of()),
                    config.data().crops().training(config.recipe().seed()),
                    config.data().crops().testing(),
                    new FeatureExtraction(extractor, ImageLimits.DEFAULT, Optional.empty()));
            TrainingContext<TrainEvent> context =
                    TrainingContext.<TrainEvent>of(Device.CPU).withThreads(2).withListener(losses::accept);
            new TwoStageTraining(model, config.recipe(), material, context).run((_, _) -> {});
        }
        return losses.all();
    }
}
