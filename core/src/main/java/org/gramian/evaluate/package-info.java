/**
 * Predictions to numbers that can be trusted.
 *
 * <p>A {@link org.gramian.evaluate.Prediction} is a picture's name, its class, and the {@link
 * org.gramian.evaluate.Logits} that a model gave it. All predictions of one fold, with the {@link
 * org.gramian.evaluate.Setting} they were made in, are an {@link org.gramian.evaluate.Evaluation}; every number follows
 * from it:
 *
 * <ul>
 *   <li>{@link org.gramian.evaluate.Proportion}: accuracy with its {@link org.gramian.evaluate.Interval};
 *   <li>{@link org.gramian.evaluate.ConfusionMatrix}: rows are the truth, columns are the prediction; with a {@link
 *       org.gramian.evaluate.ClassScore} per class and their means;
 *   <li>{@link org.gramian.evaluate.Calibration}: log loss, Brier score, calibration error with its bins, perhaps after a
 *       {@link org.gramian.evaluate.Temperature} was fitted on held-back pictures;
 *   <li>{@link org.gramian.evaluate.Metric} names them all, and a {@link org.gramian.evaluate.FoldSummary} has the {@link
 *       org.gramian.evaluate.Spread} of each over folds.
 * </ul>
 *
 * <pre>{@code
 * Temperature temperature = Temperature.fit(heldBack);                    // never on test pictures
 * Evaluation evaluation = new Evaluation(setting, classes, predictions).calibrated(temperature);
 * evaluation.accuracy().text();                                           // 75.3 (71.9 to 78.4)
 * evaluation.calibration().error();                                       // 0.031
 * EvaluationFile.write(folder.resolve("evaluation.json"), evaluation);    // all of it, to the last bit
 * EvaluationCsv.writePredictions(folder.resolve("predictions.csv"), evaluation);
 *
 * FoldSummary.of(List.of(third1, third2, third3)).text(Metric.ACCURACY);  // 75.3 ± 2.9
 * PairedTest.of(EvaluationFile.read(ours), EvaluationFile.read(theirs)).text();
 * }</pre>
 *
 * <p>A {@link org.gramian.evaluate.PairedTest} refuses results of different fingerprints or folds, for their difference
 * would say nothing about the models. Inside, {@code TemperatureFit} minimizes, {@code Pairing} matches predictions by
 * name, {@code EvaluationDocument} is the JSON file as records, {@code PredictionReader} reads the CSV file.
 */
@NullMarked
package org.gramian.evaluate;

import org.jspecify.annotations.NullMarked;
