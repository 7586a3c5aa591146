/** What tests of several packages share. */
@NullMarked
package org.gramian.testing;

import org.jspecify.annotations.NullMarked;
