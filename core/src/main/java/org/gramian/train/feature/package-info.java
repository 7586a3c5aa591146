/**
 * Features of frozen backbones, computed once and kept.
 *
 * <p>A {@link org.gramian.train.feature.FrozenBackbone} is a network with its weights; a
 * {@link org.gramian.train.feature.FeatureExtractor} applies it to batches. A
 * {@link org.gramian.train.feature.FeatureExtraction} does so for all crops of many images, and looks into a
 * {@link org.gramian.train.feature.FeatureCache} first. What features depend on besides image and crop is their
 * {@link org.gramian.train.feature.FeatureRecipe}.
 *
 * <pre>{@code
 * FeatureExtractor extractor = new FeatureExtractor(FrozenBackbone.of(backbone, weights, device), 16, DType.F32);
 * try (FeatureCache cache = FeatureCache.open(FeatureCache.defaultRoot(), extractor.recipe(), this::warn)) {
 *     FeatureExtraction extraction = new FeatureExtraction(extractor, ImageLimits.DEFAULT, Optional.of(cache));
 *     FeatureSurvey survey = extraction.survey(samples, crops, progress);   // hashes files, decodes nothing
 *     cache.requireSpace(FeatureCache.bytes(survey.missingCount(), extractor.bytes(crops)));
 *     extraction.run(survey, sink, progress);                               // all features, in order
 * }
 * }</pre>
 *
 * <p>Inside, {@code ComputedFeatures} loads images, computes and keeps; {@code FeatureSegment} and {@code
 * FeatureSegmentWriter} read and write the files of a cache, record by record, each behind its {@code RecordHeader}.
 */
@NullMarked
package org.gramian.train.feature;

import org.jspecify.annotations.NullMarked;
