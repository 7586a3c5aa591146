/** What tests of several packages share: seeded random tests, and plain-Java arrays as oracles of tensors. */
@NullMarked
package org.gramian.testing;

import org.jspecify.annotations.NullMarked;
