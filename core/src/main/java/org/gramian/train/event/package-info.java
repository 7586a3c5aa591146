/** Progress of training as the loop reports it to the command line, Spark and the listener of a {@code Trainer}. */
@NullMarked
package org.gramian.train.event;

import org.jspecify.annotations.NullMarked;
