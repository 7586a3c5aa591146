package org.gramian.run;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Predicate;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.ClassifierTail;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Head;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.TrainConfig;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.train.loop.TrainingData.Parts;

/** Amount of work of a run, counted from configuration and folds. */
public record Workload(RunConfig config, int classes, List<Fold> folds, long features) {
    public Workload {
        folds = List.copyOf(folds);
    }

    public static Workload of(RunConfig config, int classes, SequencedMap<String, Parts> folds) {
        List<Fold> sizes = folds.entrySet().stream()
                .map(fold -> new Fold(
                        fold.getKey(),
                        fold.getValue().training().size(),
                        fold.getValue().validation().size(),
                        fold.getValue().test().size()))
                .toList();
        return new Workload(config, classes, sizes, features(config, folds.values()));
    }

    /** Test crops are among the training crops unless set separately: an image of both in different folds counts once. */
    private static long features(RunConfig config, Collection<Parts> folds) {
        if (config.recipe().stage1().epochs() == 0 && config.recipe().solver().isEmpty()) {
            return 0;
        }

        Set<Sample> training = new HashSet<>();
        Set<Sample> others = new HashSet<>();
        for (Parts parts : folds) {
            training.addAll(parts.training());
            others.addAll(parts.validation());
            others.addAll(parts.test());
        }
        if (config.get(TrainConfig.TEST_CROPS).isEmpty()) {
            others.removeAll(training);
        }
        return (long) training.size() * config.trainingCrops().count()
                + (long) others.size() * config.testPlan().testing().count();
    }

    public int trainingCrops() {
        return config.trainingCrops().count();
    }

    public int testCrops() {
        return config.testPlan().testing().count();
    }

    public Shape featureShape() {
        return features(config.get(TrainConfig.CROPS).size());
    }

    /** Estimates the disk space of cached features in bytes. */
    public long cacheBytes() {
        return features
                * Math.max(
                        featureShape().elements(),
                        features(config.testPlan().size()).elements())
                * config.get(TrainConfig.FEATURE_TYPE).bytes();
    }

    private Shape features(int size) {
        return config.network().backbone().features(size, size);
    }

    public long backboneParameters() {
        return config.network().backbone().parameterCount();
    }

    public long headParameters() {
        return count(spec -> !isOfTail(spec));
    }

    public long trainedParameters() {
        return count(spec -> !isOfTail(spec) && spec.role() != ParameterSpec.Role.FITTED);
    }

    public long tailParameters() {
        return count(this::isOfTail);
    }

    private boolean isOfTail(ParameterSpec spec) {
        return head().pretrained().containsKey(spec.name());
    }

    private long count(Predicate<ParameterSpec> counted) {
        return head().parameters(config.network().backbone().channels()).stream()
                .filter(counted)
                .mapToLong(spec -> spec.shape().elements())
                .sum();
    }

    public Optional<ClassifierTail> tail() {
        return config.network().usesTail()
                ? Optional.of(config.network().backbone().tail())
                : Optional.empty();
    }

    private Head head() {
        int largest = folds.stream().mapToInt(Fold::training).max().orElse(0);
        return config.network().head(classes, largest);
    }

    public long descriptorSize() {
        return head().pooling().descriptorSize(featureShape().at(0));
    }

    public long memoryBytes() {
        return Math.max(stageBytes(false), config.recipe().stage2().epochs() > 0 ? stageBytes(true) : 0);
    }

    private long stageBytes(boolean all) {
        long network = backboneParameters() + tailParameters();
        long moved = 3 * (headParameters() + (all ? network : 0));
        long fixed = all ? 0 : network;
        long batch = config.recipe().batching().batch() * (headMaps() + (all ? backboneMaps() : 0));
        return (moved + fixed + batch) * DType.F32.bytes();
    }

    /** Elements per crop: features, reduced maps, matrices and descriptors with their gradients. */
    private long headMaps() {
        Shape shape = featureShape();
        long positions = shape.elements() / shape.at(0);
        long channels = head().pooling().maxChannels(shape.at(0));
        long ofTail = tail().map(tail -> 3 * tail.mapElements(shape.at(1), shape.at(2)))
                .orElse(0L);
        return 4 * (channels * positions + channels * channels + descriptorSize()) + ofTail;
    }

    /** Elements per crop: activations of every layer. */
    private long backboneMaps() {
        Backbone backbone = config.network().backbone();
        int size = config.get(TrainConfig.CROPS).size();
        long stacked = backbone.cutLayers().size() > 1
                ? 3 * backbone.features(size, size).elements() // resized maps beside those of the layers
                : 0;
        return stacked
                + backbone.activations(size, size).stream()
                        .mapToLong(Long::longValue)
                        .sum();
    }

    public record Fold(String name, int training, int validation, int test) {}
}
