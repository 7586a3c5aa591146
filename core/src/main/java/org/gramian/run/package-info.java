/**
 * A whole run: from a folder of images to models that were measured, in a folder from which a broken run goes on.
 *
 * <p>{@link org.gramian.run.Trainer} does it all, or step by step what is wanted of it:
 *
 * <pre>{@code
 * Trainer trainer = Trainer.of(Layouts.open(Path.of("photos")))
 *         .asking(Settings.NONE.with(Keys.PROTOCOL, Protocols.parse("kfold:5")))
 *         .under(new Trainer.Control(event -> show(event), Breaks.onRequest(), Keeper.DEFAULT_INTERVAL));
 * AuditReport audit = trainer.audit();                        // looks at every image
 * RunPlan plan = trainer.plan(audit);                         // decides everything, trains nothing
 * Estimate time = trainer.estimate(plan);                     // how long it may take
 * RunResult result = trainer.train(plan.only(List.of("1")), audit, Path.of("run"));
 * result.summary().text(Metric.ACCURACY);                     // over the folds that were trained
 * Path model = result.folds().getFirst().model();
 * }</pre>
 *
 * <p>From start to end:
 *
 * <ol>
 *   <li>What was asked for and what is chosen where nothing was asked is {@link org.gramian.run.config}; what it computes
 *       with, which decides nothing, is a {@link org.gramian.run.Workshop}.
 *   <li>Every image is looked at; one that cannot be read, or that the crops cannot be taken from, takes no part.
 *   <li>A {@link org.gramian.run.RunPlan} has a {@link org.gramian.run.FoldPlan} for each fold of the protocol: readable
 *       images only, some of the training images held back to judge epochs by. Images that do not allow what is asked
 *       are an {@link org.gramian.run.UnfitDataException}. How much work that is tells {@link org.gramian.run.plan}.
 *   <li>A {@code RunLock} keeps other runs out of the folder, and a {@link org.gramian.run.ExistingRun} writes down what the run
 *       was begun with: {@code config.yaml}, and {@code folds.txt} where not all folds were asked for.
 *   <li>Each fold is a {@code FoldRun}: a model at its beginning is trained by {@link org.gramian.train.loop.TwoStage} on
 *       features that a {@code RunScratch} keeps, for this run or in a cache for others too, and measured on its test
 *       images after each stage.
 *   <li>A {@code FoldFolder} gets {@code model.safetensors}, {@code evaluation.json}, {@code predictions.csv}, {@code
 *       confusion.csv}, and {@link org.gramian.run.History history.csv}; {@code stage1.json} is the evaluation after stage 1
 *       where a second one followed. A {@code RunArtifacts} adds {@code gallery.safetensors} and {@code spd.json} for people to look at,
 *       unless told otherwise; what fails there is a remark. The run's folder gets {@code audit.json}. While a fold is not finished it has a {@code checkpoint.safetensors}. The only fold of
 *       a run lies in the run's folder itself, others in {@code fold-1}, {@code fold-2} and so on.
 *   <li>A {@link org.gramian.run.RunResult} has a {@link org.gramian.run.FoldResult} for each fold with a model.
 * </ol>
 *
 * <p>To go on, train into the same folder with the same configuration and images: finished folds are read, a broken one
 * goes on from its checkpoint, and all files end with the bytes of an unbroken run. Another configuration, and images of
 * other names, labels or pixels, are refused. All of it is told as {@link org.gramian.run.RunEvent}s.
 */
@NullMarked
package org.gramian.run;

import org.jspecify.annotations.NullMarked;
