package org.gramian.cluster;

import org.gramian.tensor.Tensor;

/**
 * What {@link KMeans} found.
 *
 * @param centres {@code [k, d]}
 * @param labels the cluster of each row, {@code [n]}
 * @param inertia the sum of squared distances of rows to their centres
 * @param iterations how often all rows were assigned
 * @param settled whether the last assignment changed nothing; otherwise the bound on iterations ended it
 */
public record Clusters(Tensor centres, Tensor labels, double inertia, int iterations, boolean settled) {}
