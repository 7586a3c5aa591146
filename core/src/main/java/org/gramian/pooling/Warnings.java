package org.gramian.pooling;

import java.util.ArrayList;
import java.util.List;
import org.gramian.pooling.Transform.Free;

/** Warnings about valid but probably unintended combinations of stages in a {@link Pooling}. */
final class Warnings {
    private Warnings() {}

    /**
     * Returns all warnings.
     *
     * @param channels number of channels of the features
     * @param rooted whether a root follows the descriptor, as after a join
     */
    static List<String> of(Pooling pooling, long channels, boolean rooted) {
        List<String> all = new ArrayList<>();
        if (!pooling.isDifferentiable() && pooling.reductions().stream().anyMatch(Reduction.Conv.class::isInstance)) {
            all.add(pooling.aggregation().text()
                    + " passes no gradient: conv before it keeps its random initialization; use"
                    + " pca instead, or remove it");
        }
        all.addAll(ofWideConvolutions(pooling, channels));
        boolean nonlinear = rooted || pooling.normalizations().stream().anyMatch(Normalization::isNonlinear);
        long size = pooling.reduced(channels);
        switch (pooling.aggregation()) {
            case SecondOrder secondOrder -> all.addAll(ofRotations(secondOrder, size, nonlinear));
            case Join join -> join.branches().forEach(branch -> all.addAll(of(branch, size, nonlinear)));
            default -> {}
        }
        return all;
    }

    /** A 1×1 convolution of more channels than enter costs time and memory without new information. */
    private static List<String> ofWideConvolutions(Pooling pooling, long channels) {
        List<String> warnings = new ArrayList<>();
        long entering = channels;
        for (Reduction reduction : pooling.reductions()) {
            long leaving = reduction.outputs(entering);
            if (reduction instanceof Reduction.Conv && leaving > entering) {
                warnings.add(reduction.text() + " widens " + entering + " channels to " + leaving
                        + ", which adds computation but no information; use conv:atmost=" + leaving + " or conv:same");
            }
            entering = leaving;
        }
        return warnings;
    }

    private static List<String> ofRotations(SecondOrder secondOrder, long channels, boolean rooted) {
        List<String> warnings = new ArrayList<>();
        long size = secondOrder.kernel().size(channels);
        List<Transform> transforms = secondOrder.transforms();
        for (int i = 0; i < transforms.size(); i++) {
            boolean rotation = transforms.get(i) instanceof Transform.Spd spd && spd.size() == size;
            if (rotation && isAbsorbed(transforms.subList(i + 1, transforms.size()), rooted)) {
                warnings.add(transforms.get(i).text() + " keeps the size " + size + " and no element-wise function"
                        + " follows: it is a rotation that the classifier can learn as well; put relu after it, or"
                        + " choose a smaller size");
            }
            size = transforms.get(i).outputs(size);
        }
        return warnings;
    }

    /** Returns whether a later linear stage absorbs a rotation: another spd or o2t, or the classifier. */
    private static boolean isAbsorbed(List<Transform> following, boolean rooted) {
        for (Transform transform : following) {
            switch (transform) {
                case Transform.Relu _ -> {
                    return false;
                }
                case Transform.Spd _, Free _ -> {
                    return true;
                }
                default -> {} // functions of eigenvalues commute with rotations
            }
        }
        return !rooted;
    }
}
