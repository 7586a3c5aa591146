package org.gramian.run.plan;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Predicate;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.Tail;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Head;
import org.gramian.run.config.RunConfig;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.train.feature.FeatureCache;
import org.gramian.train.loop.TrainingData.Parts;

/**
 * What a run will do, counted before anything is computed.
 *
 * @param config of the run
 * @param classes number of classes
 * @param folds sizes of its folds
 * @param features crops whose features are kept, of all folds together: what folds share is computed once; none without a
 *     stage 1
 */
public record Workload(RunConfig config, int classes, List<FoldSize> folds, long features) {
    public Workload {
        folds = List.copyOf(folds);
    }

    /**
     * The work of some folds.
     *
     * @param folds who does what in each, by its name
     */
    public static Workload of(RunConfig config, int classes, SequencedMap<String, Parts> folds) {
        List<FoldSize> sizes = folds.entrySet().stream()
                .map(fold -> FoldSize.of(fold.getKey(), fold.getValue()))
                .toList();
        return new Workload(config, classes, sizes, features(config, folds.values()));
    }

    /** Unless set apart, test crops are among the training crops: an image of both in different folds counts once. */
    private static long features(RunConfig config, Collection<Parts> folds) {
        if (config.recipe().stage1().epochs() == 0 && config.recipe().solver().isEmpty()) {
            return 0;
        }
        CropPlan crops = config.data().crops();
        Set<Sample> training = new HashSet<>();
        Set<Sample> others = new HashSet<>();
        for (Parts parts : folds) {
            training.addAll(parts.training());
            others.addAll(parts.validation());
            others.addAll(parts.test());
        }
        if (config.data().testCrops().isEmpty()) {
            others.removeAll(training);
        }
        return (long) training.size() * crops.training(0).count()
                + (long) others.size() * config.data().testPlan().testing().count();
    }

    /** Crops of each training image. */
    public int trainingCrops() {
        return config.data().crops().training(0).count();
    }

    /** Crops of each image that judges or tests. */
    public int testCrops() {
        return config.data().testPlan().testing().count();
    }

    /** The shape {@code [c, h, w]} of one crop's feature. */
    public Shape featureShape() {
        int size = config.data().crops().size();
        return config.network().backbone().features(size, size);
    }

    /** Bytes that the cache of features takes on disk at most. */
    public long cacheBytes() {
        return FeatureCache.bytes(
                features,
                Math.max(featureShape().elements(), testFeatures())
                        * config.data().featureType().bytes());
    }

    private long testFeatures() {
        int size = config.data().testPlan().size();
        return config.network().backbone().features(size, size).elements();
    }

    /** Trainable numbers of the backbone. */
    public long backboneParameters() {
        return config.network().backbone().parameterCount();
    }

    /** Numbers of pooling and classifier that are new: none of the network's own tail. */
    public long headParameters() {
        Set<String> tail = head().pretrained().keySet();
        return headParameters(spec -> !tail.contains(spec.name()));
    }

    /** Those of them that are learned step by step, and not taken from data once. */
    public long trainedParameters() {
        Set<String> tail = head().pretrained().keySet();
        return headParameters(spec -> !tail.contains(spec.name()) && spec.role() != ParameterSpec.Role.FITTED);
    }

    /** Numbers of the network's own tail, where the pooling has it. */
    public long tailParameters() {
        Set<String> tail = head().pretrained().keySet();
        return headParameters(spec -> tail.contains(spec.name()));
    }

    private long headParameters(Predicate<ParameterSpec> counted) {
        return head().parameters(config.network().backbone().channels()).stream()
                .filter(counted)
                .mapToLong(spec -> spec.shape().elements())
                .sum();
    }

    /** What of the network follows the cut and stands in the head; nothing for most poolings. */
    public Optional<Tail> tail() {
        return config.network().usesTail()
                ? Optional.of(config.network().backbone().tail())
                : Optional.empty();
    }

    private Head head() {
        return config.network().head(classes, images());
    }

    /** Length of the descriptor. */
    public long descriptorSize() {
        return head().pooling().descriptorSize(featureShape().at(0));
    }

    /** Training images of the largest fold. */
    private int images() {
        return folds.stream().mapToInt(FoldSize::training).max().orElse(0);
    }

    /**
     * Bytes of memory that the numbers of the larger stage take, roughly: parameters, gradients and velocities, and what
     * one batch leaves on the tape.
     */
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

    /** Per crop: features, reduced maps and their gradients, and of matrices and descriptors as many. */
    private long headMaps() {
        Shape shape = featureShape();
        long positions = shape.elements() / shape.at(0);
        long channels = head().pooling().widest(shape.at(0));
        long ofTail = tail().map(tail -> 3 * tail.mapElements(shape.at(1), shape.at(2)))
                .orElse(0L);
        return 4 * (channels * positions + channels * channels + descriptorSize()) + ofTail;
    }

    /** Per crop: every layer's maps, the maps inside of it taken as twice as many. */
    private long backboneMaps() {
        Backbone backbone = config.network().backbone();
        int size = config.data().crops().size();
        long stacked = backbone.cutLayers().size() > 1
                ? 3 * backbone.features(size, size).elements() // resized maps beside those of the layers
                : 0;
        return stacked
                + backbone.layersUsed().stream()
                        .mapToLong(layer ->
                                3 * backbone.cutAt(layer).features(size, size).elements())
                        .sum();
    }
}
