package org.gramian.run.plan;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.Sample;
import org.gramian.pooling.Reduction;
import org.gramian.run.config.RunConfig;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.train.feature.FeatureCache;
import org.gramian.train.loop.Material.Parts;

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

    /** Crops to test with are among those to train on, so a picture that does both in different folds counts once. */
    private static long features(RunConfig config, Collection<Parts> folds) {
        if (config.recipe().stage1().epochs() == 0) {
            return 0;
        }
        CropPlan crops = config.data().crops();
        Set<Sample> training = new HashSet<>();
        Set<Sample> others = new HashSet<>();
        for (Parts parts : folds) {
            training.addAll(parts.training());
            others.addAll(parts.heldBack());
            others.addAll(parts.test());
        }
        others.removeAll(training);
        return (long) training.size() * crops.training(0).count()
                + (long) others.size() * crops.testing().count();
    }

    /** Crops of each training picture. */
    public int trainingCrops() {
        return config.data().crops().training(0).count();
    }

    /** Crops of each picture that judges or tests. */
    public int testCrops() {
        return config.data().crops().testing().count();
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
                featureShape().elements() * config.data().featureType().bytes());
    }

    /** Trainable numbers of the backbone. */
    public long backboneParameters() {
        return config.network().backbone().parameterCount();
    }

    /** Numbers of pooling and classifier. */
    public long headParameters() {
        return config
                .network()
                .head(classes)
                .parameters(config.network().backbone().channels())
                .stream()
                .mapToLong(Workload::elements)
                .sum();
    }

    private static long elements(ParameterSpec spec) {
        return spec.shape().elements();
    }

    /** Length of the descriptor. */
    public long descriptorSize() {
        return config.network().pooling().descriptorSize(featureShape().at(0));
    }

    /**
     * Bytes of memory that the numbers of the larger stage take, roughly: parameters, gradients and velocities, and what
     * one batch leaves on the tape.
     */
    public long memoryBytes() {
        return Math.max(stageBytes(false), config.recipe().stage2().epochs() > 0 ? stageBytes(true) : 0);
    }

    private long stageBytes(boolean all) {
        long moved = 3 * (headParameters() + (all ? backboneParameters() : 0));
        long fixed = all ? 0 : backboneParameters();
        long batch = config.recipe().batching().batch() * (headMaps() + (all ? backboneMaps() : 0));
        return (moved + fixed + batch) * DType.F32.bytes();
    }

    /** Per crop: features, reduced maps and their gradients, and of matrices and descriptors as many. */
    private long headMaps() {
        Shape shape = featureShape();
        long positions = shape.elements() / shape.at(0);
        long channels = widest(shape.at(0));
        return 4 * (channels * positions + channels * channels + descriptorSize());
    }

    private long widest(long channels) {
        long widest = channels;
        long size = channels;
        for (Reduction reduction : config.network().pooling().reductions()) {
            size = reduction.outputs(size);
            widest = Math.max(widest, size);
        }
        return widest;
    }

    /** Per crop: every layer's maps, the maps inside of it taken as twice as many. */
    private long backboneMaps() {
        Backbone backbone = config.network().backbone();
        int size = config.data().crops().size();
        List<String> layers = backbone.layers();
        return layers.subList(0, layers.indexOf(backbone.layer()) + 1).stream()
                .mapToLong(
                        layer -> 3 * backbone.cutAt(layer).features(size, size).elements())
                .sum();
    }
}
