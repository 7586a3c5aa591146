/** Building blocks without knowledge of images or networks: atomic files, locks, texts of messages, subsamples, hashes. */
@NullMarked
package org.gramian.basis;

import org.jspecify.annotations.NullMarked;
