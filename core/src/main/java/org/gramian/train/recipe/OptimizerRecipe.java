package org.gramian.train.recipe;

import org.gramian.train.Optimizer;
import org.gramian.train.OptimizerOptions;

/**
 * The optimizer of a recipe.
 *
 * @param rule SGD or AdamW with their constants; the stages set the learning rate
 * @param clip largest norm of the gradient over all parameters; 0 for no clipping
 * @param ema decay of the exponential moving average of weights, which validation and the model then use; 0 for none
 */
public record OptimizerRecipe(OptimizerOptions rule, double clip, double ema) {
    /** Neither clips gradients nor averages weights. */
    public OptimizerRecipe(OptimizerOptions rule) {
        this(rule, 0, 0);
    }

    public OptimizerRecipe {
        new Optimizer(rule, clip, ema).close(); // checks the constants
    }

    /** Creates the optimizer of a stage, without state. */
    public Optimizer create() {
        return new Optimizer(rule, clip, ema);
    }
}
