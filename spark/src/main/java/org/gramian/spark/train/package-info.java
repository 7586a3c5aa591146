/** Training on a cluster: executors compute features of a frozen backbone, the driver trains the head with the code of one machine. */
@NullMarked
package org.gramian.spark.train;

import org.jspecify.annotations.NullMarked;
