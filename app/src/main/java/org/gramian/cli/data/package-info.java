/** Commands on images, weights and caches: {@code audit}, {@code backbones}, {@code weights}, {@code cache}. */
@NullMarked
package org.gramian.cli.data;

import org.jspecify.annotations.NullMarked;
