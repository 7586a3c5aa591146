package org.gramian.explain;

/**
 * What a pair of feature maps, or one alone, has to do with a class's score.
 *
 * @param first number of a map that the pooling aggregates, after its 1×1 convolution, from 0
 * @param second number of the other one, not less than the first; the same for one alone
 * @param contribution to the mean score of the crops, {@code G_ij K_ij + G_ji K_ji}: positive raises it
 * @param where the maps are active together: the root of the product of their positive parts
 */
public record ChannelPair(int first, int second, double contribution, HeatMap where) {}
