/** The commands except training: on data, models, weights, caches and the installation, a class each. */
@NullMarked
package org.gramian.cli.command;

import org.jspecify.annotations.NullMarked;
