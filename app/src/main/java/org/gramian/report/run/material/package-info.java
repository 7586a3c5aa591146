/**
 * What a run left behind, read for its report: nothing is computed anew, and nothing but an evaluation must be there.
 *
 * <p>A {@link org.gramian.report.run.material.RunMaterial} is a run, with a {@link
 * org.gramian.report.run.material.FoldMaterial} for each fold; {@link org.gramian.report.run.material.RunReader} reads it. A
 * part that is absent or damaged becomes a remark, which the page shows where the part would be. {@link
 * org.gramian.report.run.material.Thumbnails} find small images by name, in a run's gallery or in a folder of images.
 */
@NullMarked
package org.gramian.report.run.material;

import org.jspecify.annotations.NullMarked;
