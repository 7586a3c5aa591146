/** Words that people type: what was meant by one that is not known. The ground of every other package. */
@NullMarked
package org.gramian.text;

import org.jspecify.annotations.NullMarked;
