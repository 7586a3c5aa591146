package org.gramian.image;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import org.gramian.image.ImageFormat.UnsupportedFormat;

/** Recognizes image files by name; the decoder checks their content. */
public final class ImageNames {
    /** Extensions of the formats of {@link ImageFormat}. */
    private static final Set<String> SUPPORTED =
            Set.of("jpg", "jpeg", "jpe", "jfif", "png", "gif", "bmp", "dib", "tif", "tiff", "webp");

    /** Extensions of images in unsupported formats, which the decoder reports one by one. */
    private static final Set<String> UNSUPPORTED = Set.of(
            "heic", "heif", "avif", "jp2", "j2k", "jpx", "jxl", "ppm", "pgm", "pbm", "pnm", "tga", "psd", "exr", "hdr",
            "svg", "raw", "dng", "cr2", "cr3", "nef", "arw", "orf", "rw2");

    private ImageNames() {}

    /** Returns whether a name has the extension of an image, in any case, and is not hidden. */
    public static boolean isImage(String name) {
        int dot = name.lastIndexOf('.');
        if (isHidden(name) || dot <= 0) {
            return false;
        }
        String extension = name.substring(dot + 1).toLowerCase(Locale.ROOT);
        return SUPPORTED.contains(extension) || UNSUPPORTED.contains(extension);
    }

    /**
     * Returns whether a file with another name, as {@code img_0001} or {@code a.jpg_large}, has the first bytes of a known image
     * format, supported or not.
     */
    public static boolean beginsAsImage(Path file) {
        byte[] first = first(file);
        return ImageFormat.of(first).isPresent()
                || UnsupportedFormat.of(first)
                        .filter(format -> format != UnsupportedFormat.VIDEO)
                        .isPresent();
    }

    /** Returns whether a file has the first bytes of a video. */
    public static boolean beginsAsVideo(Path file) {
        return UnsupportedFormat.of(first(file))
                .filter(UnsupportedFormat.VIDEO::equals)
                .isPresent();
    }

    private static byte[] first(Path file) {
        if (isHidden(name(file)) || !Files.isRegularFile(file)) {
            return new byte[0];
        }
        try (InputStream content = Files.newInputStream(file)) {
            return content.readNBytes(UnsupportedFormat.MAGIC_BYTES);
        } catch (IOException unreadable) {
            return new byte[0]; // noted as a file that is not an image
        }
    }

    private static String name(Path file) {
        Path last = file.getFileName();
        return last == null ? "" : last.toString();
    }

    /** Returns whether a file or folder is hidden, as {@code .git} is. */
    public static boolean isHidden(String name) {
        return name.startsWith(".");
    }
}
