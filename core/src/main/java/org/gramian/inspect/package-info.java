/** Inspection of a trained model: the spectra of its matrices, and its dead and duplicate channels. */
@NullMarked
package org.gramian.inspect;

import org.jspecify.annotations.NullMarked;
