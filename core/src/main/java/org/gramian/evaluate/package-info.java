/**
 * From predictions to metrics: test images, accuracy with confidence intervals, confusion matrix, calibration, comparison.
 *
 * <pre>{@code
 * TestImages images = TestImages.choose(dataset, card, TestImages.Request.DEFAULT); // not the training images
 * Evaluation evaluation = Evaluator.of(model, card, reader)
 *         .measure(dataset, images.indexes(), images.setting(), progress)
 *         .evaluation();
 * evaluation.accuracy().text();                                           // 75.3 (71.9–78.4)
 * evaluation.calibration().error();                                       // 0.031
 * EvaluationFile.write(folder.resolve("evaluation.json"), evaluation);
 * PredictionTable.of(evaluation).write(folder.resolve("predictions.csv"));
 *
 * Temperature temperature = Temperature.fit(validation, Optional.empty()); // never on test images
 * evaluation.calibrated(temperature).calibration().error();               // 0.012
 *
 * FoldSummary.of(List.of(third1, third2, third3)).text(Metric.ACCURACY);  // 75.3 ± 2.9
 * PairedTest.of(EvaluationFile.read(ours), EvaluationFile.read(theirs)).text();
 * }</pre>
 *
 * <p>An {@link org.gramian.evaluate.Evaluation} has all predictions of one fold; every {@link org.gramian.evaluate.Metric}
 * follows from it. {@link org.gramian.evaluate.Comparison} compares all folds of two runs, which {@link
 * org.gramian.evaluate.EvaluationFile} reads; results of different images or splits are refused.
 */
@NullMarked
package org.gramian.evaluate;

import org.jspecify.annotations.NullMarked;
