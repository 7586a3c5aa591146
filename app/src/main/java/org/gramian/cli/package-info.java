/** The command line: commands, progress, the wording of errors, exit codes. Only this package prints or exits. */
@NullMarked
package org.gramian.cli;

import org.jspecify.annotations.NullMarked;
