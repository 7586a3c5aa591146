/**
 * Layouts of datasets on disk.
 *
 * <p>{@link org.gramian.image.dataset.layout.Layouts} opens a folder or a CSV file in the detected {@link
 * org.gramian.image.dataset.layout.DatasetLayout}, or in one chosen by name:
 *
 * <pre>{@code
 * Dataset photos = Layouts.open(Path.of("photos"));
 * Dataset makers = Layouts.parse("fgvc-aircraft:manufacturer").read(Path.of("fgvc-aircraft-2013b"));
 * Dataset part = Layouts.parse("dtd:dtd-splits").read(Path.of("dtd10"));
 * }</pre>
 *
 * <p>Every layout is a record. It fills a {@code DatasetBuilder} with images and notes; {@code Listing} lists one
 * folder. No image is decoded here.
 */
@NullMarked
package org.gramian.image.dataset.layout;

import org.jspecify.annotations.NullMarked;
