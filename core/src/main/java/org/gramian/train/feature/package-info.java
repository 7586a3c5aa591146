/**
 * Features of frozen backbones, computed once and cached on disk.
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
 */
@NullMarked
package org.gramian.train.feature;

import org.jspecify.annotations.NullMarked;
