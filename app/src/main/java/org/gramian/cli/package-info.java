/**
 * The command line. {@link org.gramian.cli.Main} lists the commands; they are grouped in sub-packages by what a user does. Only these
 * packages print or exit.
 */
@NullMarked
package org.gramian.cli;

import org.jspecify.annotations.NullMarked;
