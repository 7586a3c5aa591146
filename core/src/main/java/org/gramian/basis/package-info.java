/**
 * Helpers without images or tensors: atomic file writes ({@link org.gramian.basis.AtomicFile}, {@link
 * org.gramian.basis.AtomicTextFile}), locks between processes ({@link org.gramian.basis.ProcessLock}, {@link
 * org.gramian.basis.SharedFolderLock}), hashes, JSON, random generators by key, and text for messages ({@link
 * org.gramian.basis.QuotedText}, {@link org.gramian.basis.NameList}, {@link org.gramian.basis.NearestWord}).
 */
@NullMarked
package org.gramian.basis;

import org.jspecify.annotations.NullMarked;
