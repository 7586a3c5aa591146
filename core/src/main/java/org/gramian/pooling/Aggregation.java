package org.gramian.pooling;

/** From maps {@code [n, c, N]} to one vector per image {@code [n, d]}, whatever the number of positions N. */
public sealed interface Aggregation extends Stage permits Average, SecondOrder, CustomAggregation {}
