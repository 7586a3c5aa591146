package org.gramian.image;

/** What came of reading an image: the image, or the reason why there is none. */
public sealed interface ReadResult {
    /**
     * An image that could be read.
     *
     * @param image its pixels
     * @param origin what it was made from
     */
    @SuppressWarnings(
            "AvoidCommonTypeNames") // the counterpart of Unreadable; java.lang.Readable has no place near images
    record Readable(Image image, ImageInfo origin) implements ReadResult {}

    /**
     * An image that could not be read.
     *
     * @param problem the kind of problem
     * @param reason a sentence for people: what was expected, what was found
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
        /** Memory did not suffice to decode it, though no other was being decoded; another time it may. */
        NO_MEMORY,
        /** So much longer than wide that crops which keep the aspect cannot be taken. */
        TOO_THIN,
        /** Crops of a box were requested, and there is none, or nothing of the image in it. */
        NO_BOX,
        /** Content of no known image format, or a rare variety of one that is not read. */
        UNKNOWN_FORMAT,
        /** The file ends before the image does. */
        TRUNCATED,
        /** Content that its format does not allow, or that the decoder found damaged. */
        CORRUPT
    }
}
