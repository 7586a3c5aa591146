/**
 * The command line. {@link org.gramian.cli.Main} lists the commands; those that train are in {@code train}, the others in {@code
 * command}. Only these packages print or exit.
 */
@NullMarked
package org.gramian.cli;

import org.jspecify.annotations.NullMarked;
