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
 * Finds two tags in the first directory of a TIFF file, or of EXIF data, which is a small TIFF file of its own.
 *
 * <p>Everything else (thumbnails, makers' notes, further directories) is stepped over, which is quick and leaves hostile data
 * nothing to unpack.
 */
final class ExifTags extends DirectoryTiffHandler {
    private final Metadata metadata;
    private long samplesPerPixel = 1;

    private ExifTags(Metadata metadata) {
        super(metadata, null);
        this.metadata = metadata;
        pushDirectory(ExifIFD0Directory.class);
    }

    /** @param tiff where a TIFF header begins, in a file or in its EXIF segment */
    static ExifTags of(byte[] content, Span tiff) {
        ExifTags tags = new ExifTags(new Metadata());
        try {
            byte[] exif = tiff.from() == 0 && tiff.to() == content.length
                    ? content
                    : Arrays.copyOfRange(content, tiff.from(), tiff.to());
            new TiffReader().processTiff(new ByteArrayReader(exif), tags, 0);
        } catch (TiffProcessingException | IOException | RuntimeException damaged) {
            // What was found up to here counts. A TIFF that is damaged will be refused by its decoder, and EXIF data
            // that is
            // says nothing about the pixels.
            tags.warn("damaged");
        }
        return tags;
    }

    /** Upright where there is no orientation or an impossible one, as it is for every viewer. */
    Orientation orientation() {
        ExifIFD0Directory directory = metadata.getFirstDirectoryOfType(ExifIFD0Directory.class);
        @Nullable Integer number = directory == null ? null : directory.getInteger(ExifDirectoryBase.TAG_ORIENTATION);
        return number == null || number < 1 || number > 8 ? Orientation.UPRIGHT : Orientation.of(number);
    }

    /** The most that the directory says, should it say so twice; a value that is no count is taken for a very large one. */
    long samplesPerPixel() {
        return samplesPerPixel;
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

    /** Claims to have dealt with every tag but the orientation. */
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
            long samples = switch (byteCount) {
                case 2 -> reader.getUInt16(tagOffset);
                case 4 -> reader.getUInt32(tagOffset);
                default -> Long.MAX_VALUE;
            };
            samplesPerPixel = Math.max(samplesPerPixel, samples);
        }
        return tagId != ExifDirectoryBase.TAG_ORIENTATION;
    }
}
