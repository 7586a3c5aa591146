/**
 * Predictions to numbers that can be trusted.
 *
 * <p>{@link org.gramian.evaluate.TestImages} chooses the images that a model may be measured on: those that it was not
 * trained on, as far as its origin ({@link org.gramian.evaluate.TrainedOn}) tells. An {@link
 * org.gramian.evaluate.Evaluator} applies the model to them; a {@link org.gramian.evaluate.Measurement} is what comes out,
 * with the images that could not be read.
 *
 * <pre>{@code
 * TestImages images = TestImages.choose(dataset, card, TestRequest.USUAL);
 * Measurement measured = Evaluator.of(model, card, reader)
 *         .measure(dataset, images.indexes(), images.setting(), progress);
 * measured.evaluation().accuracy().text();                                // 75.3 (71.9–78.4)
 * }</pre>
 *
 * <p>A {@link org.gramian.evaluate.ImagePrediction} is an image's name, its class, and the {@link
 * org.gramian.model.Logits} that a model gave it. All predictions of one fold, with the {@link
 * org.gramian.evaluate.Setting} they were made in, are an {@link org.gramian.evaluate.Evaluation}; every number follows
 * from it:
 *
 * <ul>
 *   <li>{@link org.gramian.evaluate.Proportion}: accuracy with its {@link org.gramian.evaluate.Interval};
 *   <li>{@link org.gramian.evaluate.ConfusionMatrix}: rows are the truth, columns are the prediction; with a {@link
 *       org.gramian.evaluate.ClassScore} per class and their means;
 *   <li>{@link org.gramian.evaluate.Calibration}: log loss, Brier score, calibration error with its bins, perhaps after a
 *       {@link org.gramian.evaluate.Temperature} fitted on validation images;
 *   <li>{@link org.gramian.evaluate.Metric} names them all, and a {@link org.gramian.evaluate.FoldSummary} has the {@link
 *       org.gramian.evaluate.Spread} of each over folds.
 * </ul>
 *
 * <pre>{@code
 * Temperature temperature = Temperature.fit(validation);                  // never on test images
 * Evaluation evaluation = new Evaluation(setting, classes, predictions).calibrated(temperature);
 * evaluation.accuracy().text();                                           // 75.3 (71.9–78.4)
 * evaluation.calibration().error();                                       // 0.031
 * EvaluationFile.write(folder.resolve("evaluation.json"), evaluation);    // all of it, to the last bit
 * EvaluationCsv.writePredictions(folder.resolve("predictions.csv"), evaluation);
 *
 * FoldSummary.of(List.of(third1, third2, third3)).text(Metric.ACCURACY);  // 75.3 ± 2.9
 * PairedTest.of(EvaluationFile.read(ours), EvaluationFile.read(theirs)).text();
 * }</pre>
 *
 * <p>A {@link org.gramian.evaluate.PairedTest} refuses results of different fingerprints or folds, for their difference
 * would say nothing about the models; a {@link org.gramian.evaluate.Comparison} does it over all folds of two runs, which
 * {@link org.gramian.evaluate.EvaluationFolder} reads. Inside, {@code ClassMapping} matches classes by name, {@code TrainedSplit}
 * finds the training images of a model, {@code FoldChoice} a fold whose test images it was not trained on, {@code Pairing}
 * matches predictions by name, {@code EvaluationDocument} is the JSON file as records, {@code PredictionReader} reads the CSV
 * file.
 */
@NullMarked
package org.gramian.evaluate;

import org.jspecify.annotations.NullMarked;
