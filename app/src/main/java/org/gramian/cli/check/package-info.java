/** Methods and self-checks: {@code methods}, {@code pool}, {@code doctor}. */
@NullMarked
package org.gramian.cli.check;

import org.jspecify.annotations.NullMarked;
