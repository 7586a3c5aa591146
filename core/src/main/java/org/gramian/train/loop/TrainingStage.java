package org.gramian.train.loop;

import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.gramian.image.batch.BatchLoader;
import org.gramian.model.Logits;
import org.gramian.tensor.library.GpuMath;
import org.gramian.tensor.library.Libtorch;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.Precision;
import org.gramian.train.recipe.StageRecipe;
import org.gramian.train.recipe.ValidationScore;
import org.jspecify.annotations.Nullable;

/** One stage of Algorithm 1: the model, the recipe, the training set and its order, which follow from the seed alone. */
public record TrainingStage(
        int number,
        Trainable model,
        Recipe recipe,
        TrainingContext context,
        Examples examples,
        Targets targets,
        @Nullable Validator validator) {
    private static final int LEAST_STEPS_WITH_TRIALS = 2000;

    int crops() {
        return examples.count();
    }

    StageRecipe stageRecipe() {
        return number == 1 ? recipe.stage1() : recipe.stage2();
    }

    /**
     * Returns the arithmetic of a step on a GPU: convolutions by the algorithms that trials found fastest, unless it is to be
     * reproducible. The smaller batch at the end of an epoch is too rare: its trials took longer than all its steps (7 s,
     * GoogLeNet in bf16). Nor do trials pay in a short stage: those of EfficientNet-Lite4 in bf16 take 35 s.
     */
    GpuMath math(int step) {
        boolean tf32 = recipe.precision() == Precision.TF32 || (recipe.precision() == Precision.BF16 && number == 2);
        GpuMath math = Libtorch.load().math().withTf32(tf32);
        boolean full = (step + 1L) * stepSize() <= crops();
        boolean pays = (long) stageRecipe().epochs() * stepsPerEpoch() >= LEAST_STEPS_WITH_TRIALS;
        return number == 2 && full && pays ? math.withTrials() : math;
    }

    /** Returns the crops of a step: batch size × gradient accumulation. */
    int stepSize() {
        return recipe.batching().batch() * recipe.batching().accumulate();
    }

    int stepsPerEpoch() {
        return Math.ceilDiv(crops(), stepSize());
    }

    /** Returns the rest of the order of the current epoch, which follows from (seed, stage, epoch). */
    int[] order(StageProgress progress) {
        int[] all = BatchLoader.shuffled(crops(), recipe.seed(), epochNumber(progress.epoch()));
        return Arrays.copyOfRange(all, (int) Math.min(crops(), (long) progress.step() * stepSize()), crops());
    }

    /** Returns the unique number of (stage, epoch), from which order and augmentation follow. */
    long epochNumber(int epoch) {
        return number * 1_000_000L + epoch;
    }

    Dropout dropout(int epoch) {
        return Dropout.of(recipe.dropout(), recipe.seed(), number, epoch);
    }

    /**
     * Returns the learning rate at a step of the current epoch: base rate × warm-up × schedule. That of the classifier is
     * {@link StageProgress#scale} times as large.
     */
    double learningRate(StageProgress progress, int step) {
        StageRecipe stage = stageRecipe();
        double epochs = progress.epoch() + (double) step / stepsPerEpoch();
        double warmup = stage.warmup() == 0 ? 1 : Math.min(1, (epochs + 1.0 / stepsPerEpoch()) / stage.warmup());
        return stage.rate() * warmup * stage.schedule().factor(progress.validations(), epochs, stage.epochs());
    }

    @FunctionalInterface
    public interface Validator {
        ValidationScore validate();

        static Validator of(Supplier<List<Logits>> scores, int[] labels) {
            return () -> {
                List<Logits> all = scores.get();
                double wrong = 0;
                double loss = 0;
                for (int i = 0; i < labels.length; i++) {
                    wrong += all.get(i).top() == labels[i] ? 0 : 1;
                    loss -= all.get(i).logProbability(labels[i], 1);
                }
                return new ValidationScore(wrong / labels.length, loss / labels.length);
            };
        }
    }
}
