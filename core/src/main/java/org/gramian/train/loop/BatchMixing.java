package org.gramian.train.loop;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.basis.KeyedRandom;
import org.gramian.image.augment.CropParameters.Rectangle;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.CudaProgram;
import org.gramian.tensor.cuda.CudaProgram.LaunchConfig;
import org.gramian.train.recipe.Recipe.Augmenting;

/**
 * Mixup (Zhang et al., 2018) and CutMix (Yun et al., 2019) of the batches of stage 2: image i is mixed with image i + 1, the last one
 * with the first. With λ ~ Beta(α, α), mixup makes {@code λx_i + (1 − λ)x_{i+1}}; CutMix pastes a rectangle of the area {@code 1 − λ}
 * from the partner, and λ becomes the share that is left of the image. Targets are mixed by λ.
 *
 * <p>What is drawn follows from (seed, stage, epoch, step, batch of the step). With both, each batch draws one of them.
 */
record BatchMixing(Augmenting augmenting, long seed) {
    /** Keeps these numbers apart from those of other parts that follow from seed and epoch. */
    private static final long PURPOSE = 0x6d6978; // "mix"

    private static final int BLOCKS = 2048;

    private static final class Program {
        static final CudaProgram MIX = CudaProgram.of(BatchMixing.class, "mix.cu", Map.of());
    }

    /** A batch with its targets {@code [n, k]}. */
    record Mixed(Examples.Minibatch batch, Tensor targets) {}

    /** A batch on a GPU: images, targets {@code [n, k]}, and the label of each row, I64. */
    record Rows(Tensor input, Tensor targets, Tensor labels) {}

    /**
     * How a batch is mixed.
     *
     * @param pixels share of an image's own pixels outside of the rectangle
     * @param labels share of its own label
     * @param pasted rectangle that comes from the partner
     */
    record Draw(double pixels, double labels, Rectangle pasted) {
        boolean ownDominates() {
            return (float) labels >= 0.5f; // in float32, as on a GPU
        }
    }

    static Optional<BatchMixing> of(TrainingStage stage) {
        Augmenting augmenting = stage.recipe().augmenting();
        boolean mixes = augmenting.mixup() > 0 || augmenting.cutmix() > 0;
        return stage.number() == 2 && mixes
                ? Optional.of(new BatchMixing(augmenting, stage.recipe().seed()))
                : Optional.empty();
    }

    Draw draw(StageProgress progress, int step, int number, int size) {
        SplittableRandom random = KeyedRandom.of(seed, PURPOSE, progress.stage(), progress.epoch(), step, number);
        boolean both = augmenting.mixup() > 0 && augmenting.cutmix() > 0;
        boolean cut = both ? random.nextBoolean() : augmenting.cutmix() > 0;
        double share = beta(cut ? augmenting.cutmix() : augmenting.mixup(), random);
        if (!cut) {
            return new Draw(share, share, Rectangle.NONE);
        }
        // The rectangle has its centre anywhere and is cut at the edges, as in the paper.
        int side = (int) (size * Math.sqrt(1 - share));
        int left = random.nextInt(size) - side / 2;
        int top = random.nextInt(size) - side / 2;
        Rectangle pasted = new Rectangle(
                Math.max(0, left), Math.max(0, top), Math.min(size, left + side), Math.min(size, top + side));
        return new Draw(1, 1 - pasted.area() / ((double) size * size), pasted);
    }

    /** Beta(α, α) as {@code G/(G + H)} of two Gamma(α) variables. */
    private static double beta(double alpha, SplittableRandom random) {
        double first = logGamma(alpha, random);
        double second = logGamma(alpha, random);
        return 1 / (1 + StrictMath.exp(second - first));
    }

    /**
     * Logarithm of a Gamma(α) variable (Marsaglia and Tsang, 2000), below α = 1 by {@code G(α + 1)·U^(1/α)}: as a logarithm it does
     * not vanish for small α.
     */
    private static double logGamma(double alpha, SplittableRandom random) {
        if (alpha < 1) {
            return logGamma(alpha + 1, random) + StrictMath.log(1 - random.nextDouble()) / alpha;
        }
        double d = alpha - 1.0 / 3;
        double c = 1 / Math.sqrt(9 * d);
        while (true) {
            double x = random.nextGaussian();
            double v = 1 + c * x;
            double cube = v * v * v;
            if (v > 0
                    && StrictMath.log(1 - random.nextDouble())
                            < 0.5 * x * x + d - d * cube + d * StrictMath.log(cube)) {
                return StrictMath.log(d * cube);
            }
        }
    }

    /** Mixes a batch, on any device; what is returned belongs to the current scope. */
    Mixed apply(Mixed plain, StageProgress progress, int number) {
        Tensor images = plain.batch.input();
        int[] labels = plain.batch.labels();
        int rows = labels.length;
        if (rows == 1) {
            return plain;
        }
        Draw draw = draw(progress, progress.step(), number, Math.toIntExact(images.size(3)));
        int[] dominant = IntStream.range(0, rows)
                .map(i -> labels[draw.ownDominates() ? i : (i + 1) % rows])
                .toArray();
        return new Mixed(new Examples.Minibatch(mixed(images, draw), dominant), blended(plain.targets, draw.labels));
    }

    private static Tensor mixed(Tensor images, Draw draw) {
        Rectangle pasted = draw.pasted;
        if (draw.pixels < 1 || pasted.area() == 0) {
            return blended(images, draw.pixels);
        }
        try (Scope scope = Scope.open()) {
            Tensor result = images.copy();
            part(result, pasted).copyFrom(part(rolled(images), pasted));
            return scope.keep(result);
        }
    }

    private static Tensor part(Tensor images, Rectangle part) {
        return images.slice(2, part.top(), part.bottom()).slice(3, part.left(), part.right());
    }

    private static Tensor blended(Tensor rows, double share) {
        try (Scope scope = Scope.open()) {
            return scope.keep(rows.mul(share).addScaled(rolled(rows), 1 - share));
        }
    }

    /** Row i + 1 at index i. */
    private static Tensor rolled(Tensor rows) {
        long count = rows.size(0);
        return Tensors.concat(List.of(rows.slice(0, 1, count), rows.slice(0, 0, 1)), 0);
    }

    OnDevice on(Device device, Examples examples) {
        if (!(examples instanceof LoadedExamples images)) {
            throw new IllegalArgumentException("mixup and cutmix: expected images, found " + examples);
        }
        return new OnDevice(this, device, images.size());
    }

    /** Mixing whose shares and rectangle lie in the memory of a GPU, set by the host before each step. */
    static final class OnDevice implements AutoCloseable {
        private final BatchMixing mixing;
        private final int size;
        private final Tensor cells;

        private OnDevice(BatchMixing mixing, Device device, int size) {
            this.mixing = mixing;
            this.size = size;
            try (Scope scope = Scope.open()) {
                cells = Tensors.zeros(Shape.of(6), DType.F32, device);
                scope.release(cells);
            }
        }

        void set(StageProgress progress, int step) {
            Draw draw = mixing.draw(progress, step, 0, size);
            Rectangle pasted = draw.pasted;
            Program.MIX.launch(
                    "set_mix",
                    new LaunchConfig(1, 1, 1, 1, 1),
                    cells,
                    (float) draw.pixels,
                    (float) draw.labels,
                    pasted.left(),
                    pasted.top(),
                    pasted.right(),
                    pasted.bottom());
        }

        Rows apply(Rows plain) {
            Tensor images = plain.input.contiguous();
            int rows = Math.toIntExact(images.size(0));
            long count = images.shape().elements();
            Tensor input = Tensors.empty(images.shape(), images);
            Program.MIX.launch(
                    "mix_images",
                    LaunchConfig.over(count, BLOCKS),
                    images,
                    cells,
                    input,
                    rows,
                    count / rows,
                    Math.toIntExact(images.size(2)),
                    Math.toIntExact(images.size(3)));
            Tensor targets = Tensors.empty(plain.targets.shape(), plain.targets);
            Tensor labels = Tensors.empty(plain.labels.shape(), plain.labels);
            Program.MIX.launch(
                    "mix_targets",
                    LaunchConfig.over(targets.shape().elements(), BLOCKS),
                    plain.targets.contiguous(),
                    plain.labels,
                    cells,
                    targets,
                    labels,
                    rows,
                    Math.toIntExact(targets.size(1)));
            return new Rows(input, targets, labels);
        }

        @Override
        public void close() {
            cells.close();
        }
    }
}
