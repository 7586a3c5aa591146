/**
 * Datasets: which images there are, and what they show.
 *
 * <p>A {@link org.gramian.image.dataset.Dataset} is a list of {@link org.gramian.image.dataset.Sample}s, each a file with
 * a label, and the names of the classes. It also keeps what the dataset itself says about training and testing (its
 * {@link org.gramian.image.dataset.Assignment}: published {@link org.gramian.image.dataset.Split}s, fold numbers, or
 * physical samples), and a {@link org.gramian.image.dataset.Note} for whatever was missing or left out, so that nothing
 * happens in silence. No image is decoded here.
 *
 * <p>Two packages work on it, in this order:
 *
 * <ol>
 *   <li>{@code layout} reads it from disk: a folder per class, the published datasets, a CSV file;
 *   <li>{@code protocol} divides it into folds that train and test, and gives the division a fingerprint.
 * </ol>
 *
 * <pre>{@code
 * Dataset dataset = Layouts.open(Path.of("photos"));              // or Layouts.parse("dtd:lists").read(path)
 * dataset.notes().forEach(note -> log(note.text()));              // 2 files that are not images by ...
 *
 * Protocol protocol = Protocols.usual(dataset);                   // or Protocols.parse("kfold:5")
 * Plan plan = protocol.plan(dataset, Duplicates.of(dataset), seed);
 * for (Fold fold : plan.folds()) {
 *     train(fold.train());                                        // indexes into dataset.samples()
 * }
 * store(plan.fingerprint());
 * }</pre>
 */
@NullMarked
package org.gramian.image.dataset;

import org.jspecify.annotations.NullMarked;
