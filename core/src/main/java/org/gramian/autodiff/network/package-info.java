/**
 * Functions of variables that only networks need: {@linkplain org.gramian.autodiff.network.BatchNorm batch normalization},
 * {@linkplain org.gramian.autodiff.network.Interpolation resizing} of feature maps and of position embeddings, and the
 * attention and normalization of {@linkplain org.gramian.autodiff.network.Tokens tokens}.
 */
@NullMarked
package org.gramian.autodiff.network;

import org.jspecify.annotations.NullMarked;
