/**
 * Recipes of training as records: the paper's Algorithm 1 with its constants. Defaults and their reasons are in {@code run.config.TrainConfig}.
 *
 * <pre>{@code
 * // 9 epochs of the head, a tenth of the learning rate after the 6th and a hundredth after the 7th, no fine-tuning
 * StageRecipe first = new StageRecipe(9, 1.0, 0, Schedule.parse("steps:6,7"), 0);
 * StageRecipe none = new StageRecipe(0, 0.001, 1, Schedule.parse("plateau"), 0);
 * OptimizerRecipe optimizer = new OptimizerRecipe(SgdOptions.defaults(first.rate()));
 * Recipe recipe = Recipe.builder(first, none, optimizer, new Recipe.Batching(32, 1)).seed(7).build();
 * }</pre>
 */
@NullMarked
package org.gramian.train.recipe;

import org.jspecify.annotations.NullMarked;
