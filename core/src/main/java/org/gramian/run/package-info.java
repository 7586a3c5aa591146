/**
 * A whole run: from a folder of images to evaluated models. {@link org.gramian.run.TrainingRun} is the entry.
 *
 * <ol>
 *   <li>The audit reads every image; unreadable images, and those too small for the crops, are left out.
 *   <li>A {@link org.gramian.run.RunPlan} has the completed settings and a {@link org.gramian.run.FoldPlan} for each fold.
 *   <li>Each fold is a {@code FoldRun}, whose files are in a {@code FoldFolder}: the run's folder, or {@code fold-1} and so on.
 * </ol>
 *
 * <p>To resume, train into the same folder with the same configuration and images: all files end with the bytes of an uninterrupted run.
 */
@NullMarked
package org.gramian.run;

import org.jspecify.annotations.NullMarked;
