/**
 * Tables such as those of the paper: several methods trained on the same folds and crops of the same images. {@link
 * org.gramian.table.TableRun} trains an ordinary run per row and dataset, {@link org.gramian.table.ResultTable} holds the numbers and
 * {@link org.gramian.table.TableReport} writes them.
 */
@NullMarked
package org.gramian.table;

import org.jspecify.annotations.NullMarked;
