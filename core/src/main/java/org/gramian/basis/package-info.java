/**
 * What every other package stands on, and nothing of images or tensors: {@link org.gramian.basis.NearestWord} guesses
 * what a mistyped word meant, {@link org.gramian.basis.Found} makes text from files fit for messages, {@link
 * org.gramian.basis.Names} keeps lists in them short, {@link org.gramian.basis.EvenSample} chooses a few of many, {@link
 * org.gramian.basis.Sha256} identifies contents, {@link org.gramian.basis.JsonText} writes and reads documents, {@link
 * org.gramian.basis.ProcessLock} lets processes take turns, {@link org.gramian.basis.AtomicFile} and {@link org.gramian.basis.AtomicTextFile} write files whole or not at all.
 */
@NullMarked
package org.gramian.basis;

import org.jspecify.annotations.NullMarked;
