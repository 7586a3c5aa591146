/**
 * Features of frozen backbones, computed once and cached on disk.
 *
 * <pre>{@code
 * FeatureExtractor extractor = new FeatureExtractor(FrozenBackbone.of(backbone, weights, device), 16, DType.F32);
 * try (FeatureCache cache = FeatureCache.open(Optional.of(FeatureCache.defaultRoot()), folder, this::warn)) {
 *     FeatureExtraction extraction = new FeatureExtraction(extractor, ImageLimits.DEFAULT, cache);
 *     extraction.table("features", samples, crops, threads, progress).feature(0, 0); // first crop of the first image
 * }
 * }</pre>
 */
@NullMarked
package org.gramian.train.feature;

import org.jspecify.annotations.NullMarked;
