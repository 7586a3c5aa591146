/**
 * Files of a run as read for its report. Only an evaluation is required.
 *
 * <p>A {@link org.gramian.report.run.data.RunData} is a run, with a {@link
 * org.gramian.report.run.data.FoldData} for each fold; {@link org.gramian.report.run.data.RunReader} reads it. The page
 * shows the reason in place of a {@link org.gramian.report.run.data.RunData.Missing} part. {@link org.gramian.report.run.data.Thumbnails}
 * come from the gallery of a run or from a folder of images.
 */
@NullMarked
package org.gramian.report.run.data;

import org.jspecify.annotations.NullMarked;
