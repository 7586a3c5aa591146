/**
 * Recipes of training as records: the paper's Algorithm 1 with its constants. Defaults and their reasons are in {@code run.config.TrainConfig}.
 */
@NullMarked
package org.gramian.train.recipe;

import org.jspecify.annotations.NullMarked;
