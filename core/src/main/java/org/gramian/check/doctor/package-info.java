/** Self-checks of {@code gramian doctor}, which run anywhere the program runs. */
@NullMarked
package org.gramian.check.doctor;

import org.jspecify.annotations.NullMarked;
