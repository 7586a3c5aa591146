package org.gramian.explain;

/**
 * What a pair of feature maps, or one alone, has to do with a class's score.
 *
 * @param first number of a map that the pooling aggregates, after its 1×1 convolution, from 0
 * @param second number of the other one, not less than the first; the same for one alone
 * @param contribution to the mean score of the crops: positive raises it. Of a pair, {@code (G_ij + G_ji)(K_ij − h(0))} with the
 *     gradient G of the score and what the image adds to the entry of the kernel matrix; of one map, the sum of gradient times
 *     feature
 * @param where the contribution comes from: a share for every place, which together are the contribution (see {@code
 *     docs/explain.md}); for {@code rbf} it is large where the maps differ, for {@code bilinear} where both are active
 */
public record ChannelPair(int first, int second, double contribution, HeatMap where) {}
