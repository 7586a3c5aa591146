/**
 * How datasets lie on disk, and how they are read from there.
 *
 * <p>Start at {@link org.gramian.image.dataset.layout.Layouts}: it opens a folder or a CSV file in the {@link
 * org.gramian.image.dataset.layout.Layout} that its content shows, or in one that is chosen by name:
 *
 * <pre>{@code
 * Dataset photos = Layouts.open(Path.of("photos"));
 * Dataset makers = Layouts.parse("fgvc-aircraft:manufacturer").read(Path.of("fgvc-aircraft-2013b"));
 * Dataset part = new Dtd(Optional.of(Path.of("dtd-splits"))).read(Path.of("dtd10"));
 * }</pre>
 *
 * <p>There is a small record for every layout: {@link org.gramian.image.dataset.layout.Folders}, {@link
 * org.gramian.image.dataset.layout.SplitFolders}, {@link org.gramian.image.dataset.layout.Csv} for data of one's own,
 * and {@link org.gramian.image.dataset.layout.Dtd}, {@link org.gramian.image.dataset.layout.Fmd}, {@link
 * org.gramian.image.dataset.layout.KthTips2b}, {@link org.gramian.image.dataset.layout.Cub2002011}, {@link
 * org.gramian.image.dataset.layout.FgvcAircraft} as published.
 *
 * <p>Inside, every layout makes a {@code Survey} of its root, which collects images and notes and becomes the dataset
 * at the end; a {@code Listing} is what lies in one folder; {@code ListLine} and
 * {@code CsvRows} read lists. Files are recognized by name alone; the decoder checks their content.
 */
@NullMarked
package org.gramian.image.dataset.layout;

import org.jspecify.annotations.NullMarked;
