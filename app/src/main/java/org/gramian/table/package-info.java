/**
 * Tables of methods: {@link org.gramian.table.TableRun} trains every row on every dataset as an ordinary run, {@link
 * org.gramian.table.ResultTable} holds the results as Markdown, CSV and JSON.
 */
@NullMarked
package org.gramian.table;

import org.jspecify.annotations.NullMarked;
