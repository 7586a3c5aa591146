/** Commands that train: {@code train}, {@code compare}, {@code demo}. */
@NullMarked
package org.gramian.cli.train;

import org.jspecify.annotations.NullMarked;
