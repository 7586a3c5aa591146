package org.gramian.anomaly;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.linear.Whitening;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Distance of the features at each position of an image to those of good images.
 *
 * <p>Features are {@code [n, p, d]}: n images, p positions, d channels.
 */
sealed interface PatchModel {
    /** Kinds in the order of their cost of an image, with the names in model files. */
    enum Kind {
        GAUSSIAN,
        POSITIONS,
        NEIGHBOURS;

        /** Fits a model of this kind to features of good images, each {@code [p, d]}. */
        PatchModel fit(List<Tensor> images, long seed) {
            return switch (this) {
                case GAUSSIAN -> new Gaussian(Whitening.fit(images));
                case NEIGHBOURS -> Neighbours.fit(images, seed);
                case POSITIONS -> Positions.fit(images, seed);
            };
        }

        /** Restores a model from its tensors. */
        PatchModel of(Map<String, Tensor> tensors) {
            return switch (this) {
                case GAUSSIAN -> new Gaussian(whitening(tensors));
                case NEIGHBOURS -> new Neighbours(whitening(tensors), get(tensors, "bank"));
                case POSITIONS ->
                    new Positions(get(tensors, "mean"), get(tensors, "precision"), get(tensors, "factor"));
            };
        }

        /** Returns the names of the tensors. */
        List<String> names() {
            return switch (this) {
                case GAUSSIAN -> List.of("mean", "whitening");
                case NEIGHBOURS -> List.of("mean", "whitening", "bank");
                case POSITIONS -> List.of("mean", "precision", "factor");
            };
        }

        /**
         * Checks the shapes of the tensors.
         *
         * @throws IllegalArgumentException if they are not those of p positions and d channels
         */
        void requireShapes(Map<String, Shape> shapes, long p, long d) {
            shapes.forEach((name, shape) -> {
                boolean fits = switch (name) {
                    case "whitening" -> shape.equals(Shape.of(d, d));
                    case "bank" -> shape.rank() == 2 && shape.at(0) > 0 && shape.at(1) == d;
                    case "factor" -> shape.rank() == 3 && shape.at(0) == p && shape.at(1) == d && shape.at(2) > 0;
                    case "precision" -> shape.equals(Shape.of(p, d));
                    default -> shape.equals(this == POSITIONS ? Shape.of(p, d) : Shape.of(d));
                };
                if (!fits) {
                    throw new IllegalArgumentException("tensor '" + name + "' of the detector has the shape " + shape
                            + ", which does not fit " + p + " positions of " + d + " channels");
                }
            });
        }

        private static Whitening whitening(Map<String, Tensor> tensors) {
            return new Whitening(get(tensors, "mean"), get(tensors, "whitening"));
        }

        private static Tensor get(Map<String, Tensor> tensors, String name) {
            Tensor tensor = tensors.get(name);
            if (tensor == null) {
                throw new IllegalArgumentException("missing tensor '" + name + "' of the detector");
            }
            return tensor;
        }
    }

    /** Returns the kind. */
    Kind kind();

    /** Computes the distance at each position, {@code [n, p]}. */
    Tensor distances(Tensor features);

    /** Returns the fitted tensors by name. */
    Map<String, Tensor> tensors();

    /** Returns {@code Σ x²} over the last dimension of {@code [n, p, d]}, {@code [n, p]}. */
    private static Tensor norms(Tensor x) {
        return x.mul(x).sum(2).reshape(x.size(0), x.size(1));
    }

    /**
     * One Gaussian of the features at all positions: {@code ‖A(x − μ)‖}, the Mahalanobis distance.
     *
     * @param whitening A and μ
     */
    record Gaussian(Whitening whitening) implements PatchModel {
        @Override
        public Kind kind() {
            return Kind.GAUSSIAN;
        }

        @Override
        public Tensor distances(Tensor features) {
            Tensor z = whitening.apply(features);
            return norms(z).sqrt();
        }

        @Override
        public Map<String, Tensor> tensors() {
            return Map.of("mean", whitening.mean(), "whitening", whitening.matrix());
        }
    }

    /**
     * Distance to the nearest of m whitened features of good images, {@code min_j ‖A(x − μ) − b_j‖}.
     *
     * <p>The m are a coreset: each is the feature farthest from those before it (Roth et al., "Towards total recall in industrial anomaly
     * detection", CVPR 2022), found in a random projection.
     *
     * @param whitening A and μ
     * @param bank b {@code [m, d]}
     */
    record Neighbours(Whitening whitening, Tensor bank) implements PatchModel {
        /** Features from which the coreset is taken. */
        private static final int POOL = 24_000;

        private static final int BANK = 2_400;

        private static final int PROJECTED = 64;

        static Neighbours fit(List<Tensor> images, long seed) {
            try (Scope scope = Scope.open()) {
                Whitening whitening = Whitening.fit(images);
                SplittableRandom random = new SplittableRandom(seed);
                List<Tensor> parts = new ArrayList<>();
                int each = Math.max(1, POOL / images.size());
                for (Tensor image : images) {
                    parts.add(each >= image.size(0) ? image : sampled(image, random, each));
                }
                Tensor pool = whitening.apply(Tensors.concat(parts, 0));
                Tensor projection = Tensors.gaussian(random, Shape.of(pool.size(1), PROJECTED), DType.F32)
                        .to(pool.device());
                float[] points =
                        pool.matmul(projection).transpose().contiguous().toFloats();
                int count = (int) Math.min(BANK, pool.size(0));
                Tensor bank = select(pool, farthest(points, (int) pool.size(0), count));
                scope.keep(whitening.mean());
                scope.keep(whitening.matrix());
                return new Neighbours(whitening, scope.keep(bank));
            }
        }

        private static Tensor sampled(Tensor rows, SplittableRandom random, int count) {
            return select(rows, random.longs(count, 0, rows.size(0)).distinct().toArray());
        }

        private static Tensor select(Tensor rows, long[] indices) {
            return rows.select(
                    0, Tensors.ofLongs(indices, Shape.of(indices.length)).to(rows.device()));
        }

        /**
         * Returns indices of points, each the farthest from those before it.
         *
         * @param points {@code [dimensions, n]}
         */
        static long[] farthest(float[] points, int n, int count) {
            float[] nearest = new float[n];
            Arrays.fill(nearest, Float.POSITIVE_INFINITY);
            float[] squared = new float[n];
            long[] chosen = new long[count];
            int next = 0;
            for (int i = 0; i < count; i++) {
                chosen[i] = next;
                Arrays.fill(squared, 0);
                for (int start = 0; start < points.length; start += n) {
                    float centre = points[start + next];
                    for (int j = 0; j < n; j++) {
                        float difference = points[start + j] - centre;
                        squared[j] += difference * difference;
                    }
                }
                int best = 0;
                for (int j = 0; j < n; j++) {
                    nearest[j] = Math.min(nearest[j], squared[j]);
                    best = nearest[j] > nearest[best] ? j : best;
                }
                next = best;
            }
            return chosen;
        }

        @Override
        public Kind kind() {
            return Kind.NEIGHBOURS;
        }

        @Override
        public Tensor distances(Tensor features) {
            Tensor z = whitening.apply(features);
            Tensor halves = bank.mul(bank).sum(1).mulInPlace(0.5).reshape(1, 1, bank.size(0));
            Tensor nearest = z.matmul(bank.transpose())
                    .sub(halves)
                    .max(2)
                    .reshape(z.size(0), z.size(1)); // ‖z‖² − 2 max_j (z·b_j − ‖b_j‖²/2)
            return norms(z).addScaled(nearest, -2).reluInPlace().sqrt();
        }

        @Override
        public Map<String, Tensor> tensors() {
            return Map.of("mean", whitening.mean(), "whitening", whitening.matrix(), "bank", bank);
        }
    }

    /**
     * A Gaussian at each position with covariance {@code Σ = D + UUᵀ}, D diagonal, U of rank r: for images of aligned objects.
     *
     * <pre>{@code
     * Σ⁻¹ = D⁻¹ − VVᵀ,  V = D⁻¹U L⁻ᵀ,  LLᵀ = I + UᵀD⁻¹U
     * distance² = Σ_c (x_c − μ_c)² / D_c − ‖Vᵀ(x − μ)‖²
     * }</pre>
     *
     * <p>U spans the r largest principal axes at the position (Defard et al., "PaDiM", 2021, keep full covariances of random channels);
     * D is the rest, a tenth of it the mean over all positions.
     *
     * @param mean μ {@code [p, d]}
     * @param precision {@code 1/D [p, d]}
     * @param factor V {@code [p, d, r]}
     */
    record Positions(Tensor mean, Tensor precision, Tensor factor) implements PatchModel {
        private static final int RANK = 16;

        /** Steps of subspace iteration. */
        private static final int ITERATIONS = 3;

        /** Positions that are fitted at once. */
        private static final long BLOCK = 64;

        private static final double COMMON = 0.1;

        static Positions fit(List<Tensor> images, long seed) {
            try (Scope scope = Scope.open()) {
                long positions = images.getFirst().size(0);
                long d = images.getFirst().size(1);
                int n = images.size();
                long rank = Math.clamp(n / 4, 1, Math.min(RANK, d));
                Tensor start = Tensors.gaussian(new SplittableRandom(seed), Shape.of(1, d, rank), DType.F32)
                        .to(images.getFirst().device());
                Tensor mean = mean(images);
                Tensor common = commonVariance(images, mean);
                Tensor precision = Tensors.empty(Shape.of(positions, d), mean);
                Tensor factor = Tensors.empty(Shape.of(positions, d, rank), mean);
                for (long from = 0; from < positions; from += BLOCK) {
                    long to = Math.min(positions, from + BLOCK);
                    try (Scope _ = Scope.open()) {
                        List<Tensor> rows = new ArrayList<>();
                        for (Tensor image : images) {
                            rows.add(image.slice(0, from, to)
                                    .sub(mean.slice(0, from, to))
                                    .unsqueeze(0));
                        }
                        Tensor z = Tensors.concat(rows, 0).permute(1, 0, 2).contiguous();
                        Tensor u = axes(z, start.expand(to - from, d, rank));
                        Tensor rest = z.mul(z)
                                .sum(1)
                                .mulInPlace(1.0 / n)
                                .reshape(to - from, d)
                                .sub(u.mul(u).sum(2).reshape(to - from, d));
                        Tensor variance =
                                rest.reluInPlace().mulInPlace(1 - COMMON).add(common);
                        Tensor inverse = variance.reciprocal();
                        precision.slice(0, from, to).copyFrom(inverse);
                        factor.slice(0, from, to).copyFrom(correction(u, inverse));
                    }
                }
                return new Positions(scope.keep(mean), scope.keep(precision), scope.keep(factor));
            }
        }

        private static Tensor mean(List<Tensor> images) {
            Tensor sum = images.getFirst().copy();
            for (Tensor image : images.subList(1, images.size())) {
                try (Scope _ = Scope.open()) {
                    sum.copyFrom(sum.add(image));
                }
            }
            return sum.mulInPlace(1.0 / images.size());
        }

        /** Returns a tenth of the mean variance of each channel at a position, {@code [1, d]}, and a floor. */
        private static Tensor commonVariance(List<Tensor> images, Tensor mean) {
            Tensor sum = Tensors.zeros(Shape.of(1, mean.size(1)), DType.F32, mean.device());
            for (Tensor image : images) {
                try (Scope _ = Scope.open()) {
                    Tensor x = image.sub(mean);
                    sum.copyFrom(sum.add(x.mul(x).sum(0)));
                }
            }
            Tensor variance = sum.mulInPlace(COMMON / (mean.size(0) * (double) images.size()));
            return variance.add(Math.max(1e-6 * variance.mean().item(), 1e-12));
        }

        /** Returns {@code U [p, d, r]} with {@code UUᵀ} nearest to {@code ZᵀZ/n}, by subspace iteration. */
        private static Tensor axes(Tensor z, Tensor start) {
            Tensor q = start;
            Tensor transposed = z.transpose();
            for (int i = 0; i < ITERATIONS; i++) {
                q = orthonormal(transposed.matmul(z.matmul(q)));
            }
            Tensor inner = z.matmul(q);
            Tensor covariance = inner.transpose().matmul(inner).mulInPlace(1.0 / z.size(1));
            return q.matmul(factorOf(covariance).to(DType.F32));
        }

        private static Tensor orthonormal(Tensor y) {
            Tensor columns = y.to(DType.F64);
            Tensor factor = factorOf(columns.transpose().matmul(columns));
            return Decompositions.solveTriangular(factor, columns.transpose(), false, true)
                    .transpose()
                    .to(DType.F32);
        }

        /** Returns the Cholesky factors of {@code [p, r, r]}, float64. */
        private static Tensor factorOf(Tensor gram) {
            Tensor wide = gram.to(DType.F64);
            Tensor trace = wide.diagonal().sum(1).mulInPlace(1e-10).add(1e-30).reshape(wide.size(0), 1, 1);
            Tensor identity = Tensors.identity(wide.size(1), DType.F64, wide.device());
            return Decompositions.cholesky(wide.add(identity.mul(trace)));
        }

        private static Tensor correction(Tensor u, Tensor inverse) {
            Tensor wide = u.to(DType.F64);
            Tensor scaled = wide.mul(inverse.to(DType.F64).unsqueeze(2));
            Tensor inner = wide.transpose().matmul(scaled);
            Tensor factor =
                    Decompositions.cholesky(inner.add(Tensors.identity(inner.size(1), DType.F64, inner.device())));
            return Decompositions.solveTriangular(factor, scaled.transpose(), false, true)
                    .transpose()
                    .to(DType.F32);
        }

        @Override
        public Kind kind() {
            return Kind.POSITIONS;
        }

        @Override
        public Tensor distances(Tensor features) {
            Tensor x = features.sub(mean);
            Tensor along = x.permute(1, 0, 2).matmul(factor); // [p, n, r]
            Tensor explained = norms(along).transpose();
            Tensor whole = x.mul(x).mul(precision).sum(2);
            return whole.reshape(x.size(0), x.size(1))
                    .sub(explained)
                    .reluInPlace()
                    .sqrt();
        }

        @Override
        public Map<String, Tensor> tensors() {
            return Map.of("mean", mean, "precision", precision, "factor", factor);
        }
    }
}
