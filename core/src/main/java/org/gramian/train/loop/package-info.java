/**
 * The training loop: both stages of the paper's Algorithm 1, with exact resume. {@link org.gramian.train.loop.TwoStageTraining} is the
 * entry; {@link org.gramian.train.loop.Fit} is the loop of one stage.
 *
 * <p>Order, crops and dropout follow from the seed, so a resumed training ends with the same bits as an uninterrupted one.
 */
@NullMarked
package org.gramian.train.loop;

import org.jspecify.annotations.NullMarked;
