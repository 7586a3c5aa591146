package org.gramian.train.loop;

import java.util.Optional;
import java.util.function.Consumer;
import org.gramian.image.augment.Augmentation;
import org.gramian.image.crop.CropPlan;
import org.gramian.linear.LinearSolver;
import org.gramian.train.Sgd;
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
        return new StageRecipe(epochs, rate, 0.5, Schedule.parse(schedule), warmup, false);
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
                new OptimizerRecipe(Sgd.defaults(0), 0, 0),
                new Batching(4, 1),
                new Recipe.Loss(0, Recipe.Loss.ClassWeights.NONE),
                Recipe.Precision.F32,
                new Recipe.Augmenting(Augmentation.NONE, CropPlan.DEFAULT_SIZE, 0, 0),
                Optional.empty(),
                Optional.empty(),
                0,
                7);
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
        return change(recipe, draft -> draft.batching = batching);
    }

    static Recipe with(Recipe recipe, Recipe.Augmenting augmenting) {
        return change(recipe, draft -> draft.augmenting = augmenting);
    }

    static Recipe with(Recipe recipe, Recipe.Loss loss) {
        return change(recipe, draft -> draft.loss = loss);
    }

    static Recipe with(Recipe recipe, Recipe.Precision precision) {
        return change(recipe, draft -> draft.precision = precision);
    }

    static Recipe withSeed(Recipe recipe, long seed) {
        return change(recipe, draft -> draft.seed = seed);
    }

    static Recipe withoutMomentum(Recipe recipe) {
        return with(recipe, new OptimizerRecipe(new Sgd(0, 0, 0, StiefelOptions.defaults()), 0, 0));
    }

    static Recipe with(Recipe recipe, OptimizerRecipe optimizer) {
        return change(recipe, draft -> draft.optimizer = optimizer);
    }

    static Recipe withDropout(Recipe recipe, double dropout) {
        return change(recipe, draft -> draft.dropout = dropout);
    }

    /** Returns a recipe with some values changed. */
    static Recipe change(Recipe recipe, Consumer<Draft> change) {
        Draft draft = new Draft(recipe);
        change.accept(draft);
        return new Recipe(
                recipe.stage1(),
                recipe.stage2(),
                draft.optimizer,
                draft.batching,
                draft.loss,
                draft.precision,
                draft.augmenting,
                draft.solver,
                draft.refit,
                draft.dropout,
                draft.seed);
    }

    /** Values of a recipe besides its stages. */
    static final class Draft {
        OptimizerRecipe optimizer;
        Batching batching;
        Recipe.Loss loss;
        Recipe.Precision precision;
        Recipe.Augmenting augmenting;
        Optional<LinearSolver> solver;
        Optional<LinearSolver> refit;
        double dropout;
        long seed;

        private Draft(Recipe recipe) {
            optimizer = recipe.optimizer();
            batching = recipe.batching();
            loss = recipe.loss();
            precision = recipe.precision();
            augmenting = recipe.augmenting();
            solver = recipe.solver();
            refit = recipe.refit();
            dropout = recipe.dropout();
            seed = recipe.seed();
        }
    }
}
