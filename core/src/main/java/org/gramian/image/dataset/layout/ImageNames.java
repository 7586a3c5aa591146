package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import org.gramian.image.ImageFormat;
import org.gramian.image.UnsupportedFormat;

/** Recognizes image files by name; the decoder checks their content. */
public final class ImageNames {
    /** The usual extensions of the formats that are read, see {@link ImageFormat}. */
    private static final Set<String> READ =
            Set.of("jpg", "jpeg", "jpe", "jfif", "png", "gif", "bmp", "dib", "tif", "tiff", "webp");

    /** Images too, though not read: the decoder says so of each, where leaving them out would lose them unnoticed. */
    private static final Set<String> NOT_READ = Set.of(
            "heic", "heif", "avif", "jp2", "j2k", "jpx", "jxl", "ppm", "pgm", "pbm", "pnm", "tga", "psd", "exr", "hdr",
            "svg", "raw", "dng", "cr2", "cr3", "nef", "arw", "orf", "rw2");

    private ImageNames() {}

    /** Whether the name has an image's extension, in any case, and is not hidden ({@code ._a.jpg} is not an image). */
    public static boolean isImage(String name) {
        int dot = name.lastIndexOf('.');
        if (isHidden(name) || dot <= 0) {
            return false;
        }
        String extension = name.substring(dot + 1).toLowerCase(Locale.ROOT);
        return READ.contains(extension) || NOT_READ.contains(extension);
    }

    /**
     * Whether a file with any other name, as {@code img_0001} or {@code a.jpg_large}, begins as an image does, of a format
     * that is read or one that the reader names.
     */
    static boolean beginsAsImage(Path file) {
        byte[] first = first(file);
        return ImageFormat.of(first).isPresent()
                || UnsupportedFormat.of(first)
                        .filter(format -> format != UnsupportedFormat.VIDEO)
                        .isPresent();
    }

    /** Whether a file begins as a video does. */
    static boolean beginsAsVideo(Path file) {
        return UnsupportedFormat.of(first(file))
                .filter(UnsupportedFormat.VIDEO::equals)
                .isPresent();
    }

    private static byte[] first(Path file) {
        if (isHidden(Listing.name(file)) || !Files.isRegularFile(file)) {
            return new byte[0];
        }
        try (InputStream content = Files.newInputStream(file)) {
            return content.readNBytes(UnsupportedFormat.MAGIC_BYTES);
        } catch (IOException unreadable) {
            return new byte[0]; // noted as a file that is no image, like any of such a name
        }
    }

    /** Whether a file or folder of this name is hidden, as {@code .git} is. */
    public static boolean isHidden(String name) {
        return name.startsWith(".");
    }
}
