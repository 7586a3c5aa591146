/**
 * A whole run: from a folder of images to evaluated models, in a folder from which an interrupted run resumes.
 *
 * <p>{@link org.gramian.run.TrainingRun} runs all of it, or single steps:
 *
 * <pre>{@code
 * TrainingRun trainer = TrainingRun.of(Layouts.open(Path.of("photos")))
 *         .with(Settings.NONE.with(Keys.PROTOCOL, Protocols.parse("kfold:5")))
 *         .with(TrainingContext.<RunEvent>of(Device.CPU).withListener(event -> show(event)));
 * AuditReport audit = trainer.audit();                        // reads every image
 * RunPlan plan = trainer.plan(audit);                         // completes the settings, splits the images
 * Estimate time = trainer.estimate(plan);                     // takes seconds
 * RunResult result = trainer.train(plan.only(List.of("1")), audit, Path.of("run"));
 * result.summary().text(Metric.ACCURACY);                     // over the trained folds
 * Path model = result.folds().getFirst().model();
 * }</pre>
 *
 * <p>From start to end:
 *
 * <ol>
 *   <li>{@link org.gramian.run.config} has the settings and their defaults. A {@link org.gramian.train.loop.TrainingContext} has device,
 *       threads, listener, cancellation and checkpoints, and passes unchanged down to the single step.
 *   <li>The audit reads every image; unreadable images, and those too small for the crops, are left out.
 *   <li>A {@link org.gramian.run.RunPlan} has a {@link org.gramian.run.FoldPlan} for each fold of the protocol, with a validation set
 *       from the training images. Images that do not suffice are an {@link org.gramian.run.UnfitDataException}. {@link
 *       org.gramian.run.plan} estimates time and memory.
 *   <li>A {@code RunLock} keeps other runs out of the folder, and a {@link org.gramian.run.ExistingRun} writes {@code config.yaml}, and
 *       {@code folds.txt} if only some folds are selected.
 *   <li>Each fold is a {@code FoldRun}: {@link org.gramian.train.loop.TwoStageTraining} trains its model on features that a {@code
 *       RunScratch} caches, and the test set evaluates it after each stage.
 *   <li>A {@code FoldFolder} gets {@code model.safetensors}, {@code evaluation.json}, {@code predictions.csv}, {@code confusion.csv}, and
 *       {@link org.gramian.run.History history.csv}; {@code stage1.json} is the evaluation after stage 1 if stage 2 followed. {@code
 *       RunArtifacts} adds {@code gallery.safetensors} and {@code spd.json} for the report unless disabled; their failure is a
 *       remark. The run's folder gets {@code audit.json}. An unfinished fold has a {@code checkpoint.safetensors}. The only fold of
 *       a run is in the run's folder itself, others in {@code fold-1}, {@code fold-2} and so on.
 *   <li>A {@link org.gramian.run.RunResult} has a {@link org.gramian.run.FoldResult} for each fold with a model.
 * </ol>
 *
 * <p>To resume, train into the same folder with the same configuration and images: finished folds are read, an interrupted one resumes
 * from its checkpoint, and all files end with the bytes of an uninterrupted run. Another configuration, and images of other names,
 * labels or pixels, are refused. The listener receives {@link org.gramian.run.RunEvent}s.
 */
@NullMarked
package org.gramian.run;

import org.jspecify.annotations.NullMarked;
