package org.gramian.image;

import com.drew.imaging.tiff.TiffProcessingException;
import com.drew.imaging.tiff.TiffReader;
import com.drew.lang.ByteArrayReader;
import com.drew.lang.RandomAccessReader;
import com.drew.metadata.Metadata;
import com.drew.metadata.exif.ExifDirectoryBase;
import com.drew.metadata.exif.ExifIFD0Directory;
import com.drew.metadata.tiff.DirectoryTiffHandler;
import java.io.IOException;
import java.util.Arrays;
import java.util.Set;
import org.gramian.image.FileHeader.Span;
import org.jspecify.annotations.Nullable;

/**
 * Reads a few tags of the first directory of a TIFF file or of EXIF data, which has the same format. Everything else (thumbnails,
 * maker notes, further directories) is skipped.
 */
final class ExifTags extends DirectoryTiffHandler {
    private final Metadata metadata;
    private long samplesPerPixel = 1;
    private long width;
    private long height;

    private ExifTags(Metadata metadata) {
        super(metadata, null);
        this.metadata = metadata;
        pushDirectory(ExifIFD0Directory.class);
    }

    /**
     * Reads the tags; those before damaged data count.
     *
     * @param tiff the TIFF data from its header on: the whole file, or its EXIF segment
     */
    static ExifTags of(byte[] content, Span tiff) {
        ExifTags tags = new ExifTags(new Metadata());
        try {
            byte[] exif = tiff.from() == 0 && tiff.to() == content.length
                    ? content
                    : Arrays.copyOfRange(content, tiff.from(), tiff.to());
            new TiffReader().processTiff(new ByteArrayReader(exif), tags, 0);
        } catch (TiffProcessingException | IOException | RuntimeException _) {
            // The decoder rejects a damaged TIFF; damaged EXIF data does not affect pixels.
        }
        return tags;
    }

    /** Returns the orientation; upright if missing or invalid. */
    Orientation orientation() {
        ExifIFD0Directory directory = metadata.getFirstDirectoryOfType(ExifIFD0Directory.class);
        @Nullable Integer number = directory == null ? null : directory.getInteger(ExifDirectoryBase.TAG_ORIENTATION);
        return number == null || number < 1 || number > 8 ? Orientation.UPRIGHT : Orientation.of(number);
    }

    /** Returns the number of samples per pixel, 1 if missing; an invalid value is {@link Long#MAX_VALUE}. */
    long samplesPerPixel() {
        return samplesPerPixel;
    }

    /** Returns columns and rows; 0 if missing, {@link Integer#MAX_VALUE} if invalid. */
    FileHeader.Size size() {
        return new FileHeader.Size((int) Math.min(width, Integer.MAX_VALUE), (int) Math.min(height, Integer.MAX_VALUE));
    }

    @Override
    public void setTiffMarker(int marker) {}

    @Override
    public boolean tryEnterSubIfd(int tagId) {
        return false;
    }

    @Override
    public boolean hasFollowerIfd() {
        return false;
    }

    @Override
    public @Nullable Long tryCustomProcessFormat(int tagId, int formatCode, long componentCount) {
        return null;
    }

    /** Reads the sizes here and leaves only the orientation to the library: every other tag counts as processed. */
    @Override
    public boolean customProcessTag(
            int tagOffset,
            Set<Integer> processed,
            int headerOffset,
            RandomAccessReader reader,
            int tagId,
            int byteCount)
            throws IOException {
        if (tagId == ExifDirectoryBase.TAG_SAMPLES_PER_PIXEL) {
            samplesPerPixel = Math.max(samplesPerPixel, number(reader, tagOffset, byteCount));
        } else if (tagId == ExifDirectoryBase.TAG_IMAGE_WIDTH) {
            width = number(reader, tagOffset, byteCount);
        } else if (tagId == ExifDirectoryBase.TAG_IMAGE_HEIGHT) {
            height = number(reader, tagOffset, byteCount);
        }
        return tagId != ExifDirectoryBase.TAG_ORIENTATION;
    }

    private static long number(RandomAccessReader reader, int tagOffset, int byteCount) throws IOException {
        return switch (byteCount) {
            case 2 -> reader.getUInt16(tagOffset);
            case 4 -> reader.getUInt32(tagOffset);
            default -> Long.MAX_VALUE;
        };
    }
}
