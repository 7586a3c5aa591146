package org.gramian.image;

/**
 * Result of reading an image: the image, or the reason why it is unreadable.
 *
 * @since 0.1
 */
public sealed interface ReadResult {
    /**
     * A decoded image.
     *
     * @param origin properties of the file
     */
    @SuppressWarnings(
            "AvoidCommonTypeNames") // the counterpart of Unreadable; java.lang.Readable has no place near images
    record Readable(Image image, ImageInfo origin) implements ReadResult {}

    /**
     * An unreadable image.
     *
     * @param reason for the user: what was expected, what was found
     */
    record Unreadable(Problem problem, String reason) implements ReadResult {}

    /** Kinds of problems. */
    enum Problem {
        /** No such file, or no permission to read it. */
        INACCESSIBLE,
        /** No bytes at all. */
        EMPTY,
        /** More bytes or pixels than the limits allow, or more work to decode than is reasonable. */
        TOO_LARGE,
        /** Memory was insufficient, though no other image was being decoded. */
        NO_MEMORY,
        /** Aspect ratio too extreme for crops that keep it. */
        TOO_THIN,
        /** Crops of a bounding box were requested, but it is missing or outside the image. */
        NO_BOX,
        /** Unknown image format, or an unsupported variant. */
        UNKNOWN_FORMAT,
        /** The file ends before the image does. */
        TRUNCATED,
        /** Invalid or damaged content. */
        CORRUPT
    }
}
