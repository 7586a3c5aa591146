/** Methods and self-checks: {@code methods}, {@code fidelity}, {@code pool}, {@code gradcheck}, {@code doctor}, {@code bench}. */
@NullMarked
package org.gramian.cli.check;

import org.jspecify.annotations.NullMarked;
