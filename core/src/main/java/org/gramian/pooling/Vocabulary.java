package org.gramian.pooling;

import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Result.Adjoint;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Classification;
import org.gramian.cluster.KMeans;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/** Fitting of codebooks and assignment of positions to codewords, shared by all {@link Codebook} poolings. */
final class Vocabulary {
    /** Largest number of local features for k-means. */
    static final int MAX_ROWS = 40_000;

    /** Images that are sampled at once, to limit memory. */
    private static final long AT_ONCE = 16;

    /** Weight of the second nearest codeword relative to the nearest, at the mean gap of squared distances. */
    private static final double SECOND = 0.01;

    /** Subtracted from the closeness of the nearest codeword to exclude it. */
    private static final double FAR = 1e30;

    private Vocabulary() {}

    /** Returns the specification of a parameter that is NaN until it is fitted. */
    static ParameterSpec unset(String name, Role role, long... sizes) {
        return new ParameterSpec(name, Shape.of(sizes), role, Fitting.UNSET);
    }

    /** Samples at most {@value #MAX_ROWS} local features {@code [m, c]} of maps {@code [n, c, N]} without replacement. */
    static Tensor sample(Tensor maps, RandomGenerator random) {
        long count = maps.size(0) * maps.size(2);
        if (count <= MAX_ROWS) {
            return rows(maps);
        }
        long[] places = LongStream.range(0, count).toArray();
        long[] drawn = new long[MAX_ROWS];
        for (int i = 0; i < MAX_ROWS; i++) {
            int other = i + random.nextInt(places.length - i);
            drawn[i] = places[other];
            places[other] = places[i];
        }
        Arrays.sort(drawn);
        return select(maps, drawn);
    }

    /** Copies all local features, {@code [n·N, c]}. */
    private static Tensor rows(Tensor maps) {
        return maps.transpose(1, 2).reshape(maps.size(0) * maps.size(2), maps.size(1));
    }

    /** Gathers local features at ascending indices, a few images at a time: a copy of all would be much larger. */
    private static Tensor select(Tensor maps, long[] places) {
        Tensor selected = Tensors.empty(Shape.of(places.length, maps.size(1)), maps.type(), maps.device());
        int done = 0;
        for (long start = 0; start < maps.size(0); start += AT_ONCE) {
            long first = start * maps.size(2);
            long end = Math.min(maps.size(0), start + AT_ONCE);
            int from = done;
            while (done < places.length && places[done] < end * maps.size(2)) {
                done++;
            }
            if (done > from) {
                long[] inPart = Arrays.stream(places, from, done)
                        .map(place -> place - first)
                        .toArray();
                try (Scope _ = Scope.open()) {
                    Tensor index =
                            Tensors.ofLongs(inPart, Shape.of(inPart.length)).to(maps.device());
                    selected.slice(0, from, done)
                            .copyFrom(rows(maps.slice(0, start, end)).select(0, index));
                }
            }
        }
        return selected;
    }

    /** Sets codewords {@code [k, c]} to the k-means centres of local features. */
    static void fit(Tensor maps, Parameter words, RandomGenerator random) {
        int count = Math.toIntExact(words.value().size(0));
        words.set(words(sample(maps, random), count, random).copy());
    }

    /** Computes the k-means centres {@code [k, c]} of local features {@code [m, c]}. */
    static Tensor words(Tensor rows, int count, RandomGenerator random) {
        return KMeans.of(count).fit(rows, random).centres();
    }

    /**
     * Computes α of soft assignments {@code exp(−α‖x − c_k‖²)} such that at the mean gap of squared distances the
     * second nearest codeword has a hundredth of the weight of the nearest; 1 if codewords do not differ.
     */
    static double sharpness(Tensor rows, Tensor words) {
        if (words.size(0) < 2) {
            return 1;
        }
        Tensor closeness = KMeans.squaredDistances(rows, words).mul(-1);
        Tensor.Largest nearest = closeness.largest(1);
        Tensor unit = Tensors.identity(words.size(0), words.type(), words.device());
        Tensor first = unit.select(0, nearest.indices().reshape(rows.size(0)));
        Tensor second = closeness.addScaled(first, -FAR).max(1);
        double gap = nearest.values().sub(second).mean().item();
        return gap > 0 ? -Math.log(SECOND) / gap : 1;
    }

    /** Computes the softmax over codewords of scores {@code [n, k, N]}. */
    static Var softmax(Var scores) {
        return Classification.softmax(scores.transpose(1, 2)).transpose(1, 2);
    }

    /** Computes the one-hot assignment to the nearest codeword, {@code [n, k, N]}; constant in the backward pass. */
    static Var nearest(Var maps, Var words) {
        return maps.tape()
                .apply(List.of(), () -> Result.of(nearest(maps.value(), words.value()), (g, wanted) -> Adjoint.list()));
    }

    static Tensor nearest(Tensor maps, Tensor words) {
        Tensor halves = words.mul(words).sum(1).mul(0.5); // [k, 1]
        Tensor closeness = words.matmul(maps).sub(halves); // [n, k, N]
        Tensor places = closeness.largest(1).indices(); // [n, 1, N]
        Tensor unit = Tensors.identity(words.size(0), words.type(), words.device());
        Tensor rows = unit.select(0, places.reshape(places.shape().elements()));
        return rows.reshape(maps.size(0), maps.size(2), words.size(0)).transpose();
    }

    /** Computes {@code V_k = Σ_p a_kp (x_p − c_k)}, {@code [n, k, c]}, for assignments {@code a [n, k, N]}. */
    static Var residuals(Var assignments, Var maps, Var words) {
        Var sums = assignments.matmul(maps.transpose(1, 2));
        return sums.sub(assignments.sum(2).mul(words));
    }

    /** Reshapes {@code [n, k, c]} to {@code [n, k·c]}. */
    static Var flat(Var encoded) {
        return encoded.reshape(
                encoded.shape().at(0), encoded.shape().at(1) * encoded.shape().at(2));
    }
}
