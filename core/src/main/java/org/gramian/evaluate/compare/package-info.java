/** Comparison of evaluations: test sets, paired tests, folds, files, and doubtful labels. */
@NullMarked
package org.gramian.evaluate.compare;

import org.jspecify.annotations.NullMarked;
