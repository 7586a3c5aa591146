package org.gramian.image;

import java.io.IOException;

/** The file of an image that lies elsewhere than in this machine's file system; read as a whole, once its size is known. */
public interface ImageContent {
    /**
     * How many bytes it has.
     *
     * @throws java.nio.file.NoSuchFileException if there is none
     * @throws java.nio.file.AccessDeniedException if it may not be read
     * @throws IOException if it cannot be read for another reason
     */
    long size() throws IOException;

    /** All its bytes; throws what {@link #size} throws. */
    byte[] bytes() throws IOException;
}
