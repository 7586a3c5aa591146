/**
 * Datasets: labelled image files, not decoded.
 *
 * <p>A {@link org.gramian.image.dataset.Dataset} is a list of {@link org.gramian.image.dataset.Sample}s, each a file with
 * a label, and the names of the classes. It also has the published splits ({@link org.gramian.image.dataset.Assignment}: {@link
 * org.gramian.image.dataset.Assignment.Split}s, fold numbers, or physical samples), and a {@link org.gramian.image.dataset.Note} for
 * whatever was missing or skipped.
 *
 * <p>Two packages work on it, in this order:
 *
 * <ol>
 *   <li>{@code layout} reads it from disk: a folder per class, the published datasets, a CSV file;
 *   <li>{@code protocol} splits it into folds, and gives the folds a fingerprint.
 * </ol>
 *
 * <pre>{@code
 * Dataset dataset = Layouts.open(Path.of("photos"));              // or Layouts.parse("dtd:lists").read(path)
 * dataset.notes().forEach(note -> log(note.text()));              // 2 files that are not images were skipped
 *
 * Protocol protocol = Protocol.defaultFor(dataset);                   // or Protocol.parse("kfold:5")
 * FoldSet plan = protocol.plan(dataset, Duplicates.of(dataset), seed);
 * for (Fold fold : plan.folds()) {
 *     train(fold.train());                                        // indexes into dataset.samples()
 * }
 * store(plan.fingerprint());
 * }</pre>
 */
@NullMarked
package org.gramian.image.dataset;

import org.jspecify.annotations.NullMarked;
