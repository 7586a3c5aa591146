/** Features of frozen backbones, computed once and cached on disk. */
@NullMarked
package org.gramian.train.feature;

import org.jspecify.annotations.NullMarked;
