package org.gramian.image;

import java.io.IOException;

/** An image file outside the local file system. */
public interface ImageContent {
    /**
     * Returns the size in bytes.
     *
     * @throws java.nio.file.NoSuchFileException if there is none
     * @throws java.nio.file.AccessDeniedException if it may not be read
     * @throws IOException if it cannot be read for another reason
     */
    long size() throws IOException;

    /** Returns all bytes; throws the exceptions of {@link #size}. */
    byte[] bytes() throws IOException;
}
