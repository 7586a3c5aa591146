/**
 * Recipes of training as records, which the Java API, the YAML file and the model file share.
 *
 * <p>A {@link org.gramian.train.recipe.Recipe} is the paper's Algorithm 1 with its constants: two {@link
 * org.gramian.train.recipe.StageRecipe}s, the {@link org.gramian.train.recipe.OptimizerRecipe}, the size of a step ({@link
 * org.gramian.train.recipe.Recipe.Batching}), the {@link org.gramian.train.recipe.LossRecipe}, the {@link
 * org.gramian.train.recipe.Recipe.Precision} of convolutions and a seed. It holds numbers only; {@code train.loop} follows it.
 *
 * <p>The {@link org.gramian.train.recipe.Schedule} of a stage gives the factor on the learning rate and early stopping. Both follow
 * from the {@link org.gramian.train.recipe.ValidationScore}s of the epochs so far alone, so that a resumed run has the same
 * learning rates.
 *
 * <pre>{@code
 * // the reference figures: 9 epochs of the new layers, the rate a tenth after the 6th and a hundredth after the 7th
 * StageRecipe first = new StageRecipe(9, 1.0, 0, Schedule.parse("steps:6,7"), 0);
 * StageRecipe none = new StageRecipe(0, 0.001, 1, Schedule.parse("plateau"), 0);
 * OptimizerRecipe optimizer = new OptimizerRecipe(SgdOptions.defaults(first.rate()));
 * Recipe recipe = Recipe.builder(first, none, optimizer, new Recipe.Batching(32, 1)).seed(7).build();
 *
 * List<ValidationScore> past =
 *         List.of(new ValidationScore(0.40, 1.2), new ValidationScore(0.31, 1.0), new ValidationScore(0.33, 1.1));
 * first.schedule().factor(past, 3.5, 9);                 // 1: six epochs are not over
 * Schedule.parse("plateau:1").factor(past, 3.5, 9);      // 0.1: the third epoch was no better than the second
 * }</pre>
 *
 * <p>Defaults and their reasons are in {@code run.config.Keys}.
 */
@NullMarked
package org.gramian.train.recipe;

import org.jspecify.annotations.NullMarked;
