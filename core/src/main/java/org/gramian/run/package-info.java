/**
 * A whole run: from a folder of images to evaluated models, in a folder from which an interrupted run resumes.
 *
 * <pre>{@code
 * TrainingRun trainer = TrainingRun.of(Layouts.open(Path.of("photos")))
 *         .with(Settings.NONE.with("data.protocol", Protocol.parse("kfold:5")))
 *         .with(TrainingContext.of(Device.CPU).withListener(event -> show(event)));
 * AuditReport audit = trainer.audit();                        // reads every image
 * RunPlan plan = trainer.plan(audit);                         // completes the settings, splits the images
 * RunResult result = trainer.train(plan.only(List.of("1")), audit, Path.of("run"));
 * result.summary().text(Metric.ACCURACY);                     // over the trained folds
 * Path model = result.folds().getFirst().model();
 * }</pre>
 *
 * <ol>
 *   <li>The audit reads every image; unreadable images, and those too small for the crops, are left out.
 *   <li>A {@link org.gramian.run.RunPlan} has the completed settings ({@link org.gramian.run.config}) and a {@link
 *       org.gramian.run.FoldPlan} for each fold.
 *   <li>Each fold is a {@code FoldRun}: {@link org.gramian.train.loop.TwoStageTraining} trains its model, the test set evaluates it after
 *       each stage.
 *   <li>A {@code FoldFolder} gets {@code model.safetensors}, {@code evaluation.json}, {@code predictions.csv}, {@code confusion.csv} and
 *       {@code history.csv}; {@code RunArtifacts} adds {@code gallery.safetensors} and {@code spd.json} for the report. The only fold of a
 *       run is in the run's folder, others are in {@code fold-1}, {@code fold-2} and so on.
 * </ol>
 *
 * <p>To resume, train into the same folder with the same configuration and images: all files end with the bytes of an uninterrupted run.
 */
@NullMarked
package org.gramian.run;

import org.jspecify.annotations.NullMarked;
