package org.gramian.train.loop;

import org.gramian.train.SgdOptions;
import org.gramian.train.StiefelOptions;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.Batching;
import org.gramian.train.recipe.Recipe.OptimizerRecipe;
import org.gramian.train.recipe.Schedule;
import org.gramian.train.recipe.StageRecipe;

/** Recipes of few steps. */
final class Recipes {
    private Recipes() {}

    static StageRecipe stage(int epochs, double rate, String schedule, double warmup) {
        return new StageRecipe(epochs, rate, 0.5, Schedule.parse(schedule), warmup);
    }

    /** A stage whose rate is that of descriptors of length 1. */
    static StageRecipe perLength(int epochs, double rate) {
        return new StageRecipe(epochs, rate, 0.5, Schedule.parse("constant"), 0, true);
    }

    /** One stage after the other, in batches of 4, with momentum and weight decay. */
    static Recipe of(StageRecipe stage1, StageRecipe stage2) {
        return Recipe.builder(stage1, stage2, new OptimizerRecipe(SgdOptions.defaults(0)), new Batching(4, 1))
                .seed(7)
                .build();
    }

    /** Two epochs of each stage. */
    static Recipe standard() {
        return of(stage(2, 0.5, "constant", 0), stage(2, 0.05, "constant", 0));
    }

    /** The first stage alone. */
    static Recipe first(int epochs, double rate) {
        return of(stage(epochs, rate, "constant", 0), stage(0, 0, "constant", 0));
    }

    static Recipe with(Recipe recipe, Batching batching) {
        return recipe.toBuilder().batching(batching).build();
    }

    static Recipe with(Recipe recipe, Recipe.Augmenting augmenting) {
        return recipe.toBuilder().augmenting(augmenting).build();
    }

    static Recipe with(Recipe recipe, Recipe.Loss loss) {
        return recipe.toBuilder().loss(loss).build();
    }

    static Recipe with(Recipe recipe, Recipe.Precision precision) {
        return recipe.toBuilder().precision(precision).build();
    }

    static Recipe withSeed(Recipe recipe, long seed) {
        return recipe.toBuilder().seed(seed).build();
    }

    static Recipe withoutMomentum(Recipe recipe) {
        return with(recipe, new OptimizerRecipe(new SgdOptions(0, 0, 0, StiefelOptions.defaults())));
    }

    static Recipe with(Recipe recipe, OptimizerRecipe optimizer) {
        return recipe.toBuilder().optimizer(optimizer).build();
    }

    static Recipe withDropout(Recipe recipe, double dropout) {
        return recipe.toBuilder().dropout(dropout).build();
    }
}
