package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.image.dataset.Dataset;

/**
 * How a dataset lies on disk, and how it is read from there.
 *
 * <p>A layout never guesses: what lies in the folder and is no part of it becomes a {@link
 * org.gramian.image.dataset.Note}, what contradicts it a {@link org.gramian.image.dataset.DatasetException}.
 */
public sealed interface Layout permits Folders, SplitFolders, Dtd, Fmd, KthTips2b, Cub2002011, FgvcAircraft, Csv, Flat {
    /** The layout's text, {@code name} or {@code name:argument}; {@link Layouts#parse} reads it back. */
    String text();

    /** Whether the place has the signs of this layout, judged by a few files and folders. */
    boolean matches(Path place) throws IOException;

    /** Reads names and labels; decodes no image. */
    Dataset read(Path place) throws IOException;
}
