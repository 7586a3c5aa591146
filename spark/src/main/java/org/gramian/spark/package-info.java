/** The same model over a Spark Dataset, and training on it. */
@NullMarked
package org.gramian.spark;

import org.jspecify.annotations.NullMarked;
