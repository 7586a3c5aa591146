package org.gramian.train.loop;

import org.gramian.train.SgdOptions;
import org.gramian.train.StiefelOptions;
import org.gramian.train.recipe.LossRecipe;
import org.gramian.train.recipe.LossRecipe.ClassWeights;
import org.gramian.train.recipe.OptimizerRecipe;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.Batching;
import org.gramian.train.recipe.Schedule;
import org.gramian.train.recipe.StageRecipe;

/** Recipes of few steps. */
final class Recipes {
    private static final LossRecipe PLAIN = new LossRecipe(0, ClassWeights.NONE);

    private Recipes() {}

    static StageRecipe stage(int epochs, double rate, String schedule, double warmup) {
        return new StageRecipe(epochs, rate, 0.5, Schedule.parse(schedule), warmup);
    }

    /** A stage that goes on past its epochs while the loss still falls. */
    static StageRecipe extending(int epochs, double rate, String schedule) {
        return new StageRecipe(epochs, rate, 0.5, Schedule.parse(schedule), 0, 1, false, true);
    }

    /** A stage whose rate is that of descriptors of length 1. */
    static StageRecipe perLength(int epochs, double rate) {
        return new StageRecipe(epochs, rate, 0.5, Schedule.parse("constant"), 0, true);
    }

    /** One stage after the other, in batches of 4, with momentum and weight decay. */
    static Recipe of(StageRecipe stage1, StageRecipe stage2) {
        return new Recipe(
                stage1,
                stage2,
                new OptimizerRecipe(SgdOptions.defaults(0)),
                new Batching(4, 1),
                PLAIN,
                Recipe.Precision.F32,
                7);
    }

    /** Two epochs of each stage. */
    static Recipe usual() {
        return of(stage(2, 0.5, "constant", 0), stage(2, 0.05, "constant", 0));
    }

    /** The first stage alone. */
    static Recipe first(int epochs, double rate) {
        return of(stage(epochs, rate, "constant", 0), stage(0, 0, "constant", 0));
    }

    static Recipe with(Recipe recipe, Batching batching) {
        return new Recipe(
                recipe.stage1(),
                recipe.stage2(),
                recipe.optimizer(),
                batching,
                recipe.loss(),
                recipe.precision(),
                recipe.seed());
    }

    static Recipe with(Recipe recipe, LossRecipe loss) {
        return new Recipe(
                recipe.stage1(),
                recipe.stage2(),
                recipe.optimizer(),
                recipe.batching(),
                loss,
                recipe.precision(),
                recipe.seed());
    }

    static Recipe with(Recipe recipe, Recipe.Precision precision) {
        return new Recipe(
                recipe.stage1(),
                recipe.stage2(),
                recipe.optimizer(),
                recipe.batching(),
                recipe.loss(),
                precision,
                recipe.seed());
    }

    static Recipe withSeed(Recipe recipe, long seed) {
        return new Recipe(
                recipe.stage1(),
                recipe.stage2(),
                recipe.optimizer(),
                recipe.batching(),
                recipe.loss(),
                recipe.precision(),
                seed);
    }

    static Recipe withoutMomentum(Recipe recipe) {
        return with(recipe, new OptimizerRecipe(new SgdOptions(0, 0, 0, StiefelOptions.defaults())));
    }

    static Recipe with(Recipe recipe, OptimizerRecipe optimizer) {
        return new Recipe(
                recipe.stage1(),
                recipe.stage2(),
                optimizer,
                recipe.batching(),
                recipe.loss(),
                recipe.precision(),
                recipe.seed());
    }

    static Recipe withDropout(Recipe recipe, double dropout) {
        return new Recipe(
                recipe.stage1(),
                recipe.stage2(),
                recipe.optimizer(),
                recipe.batching(),
                recipe.loss(),
                recipe.precision(),
                recipe.augmenting(),
                recipe.solver(),
                dropout,
                recipe.seed());
    }
}
