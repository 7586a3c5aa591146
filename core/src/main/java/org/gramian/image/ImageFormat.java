package org.gramian.image;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Supported image formats, detected by the first bytes of a file.
 *
 * @since 0.1
 */
public enum ImageFormat {
    JPEG(Set.of("\u00ff\u00d8\u00ff"), "jpg", "jpeg", "jpe", "jfif"),
    PNG(Set.of("\u0089PNG\r\n\u001a\n"), "png"),
    GIF(Set.of("GIF87a", "GIF89a"), "gif"),
    BMP(Set.of("BM"), "bmp", "dib"),
    /** Little- or big-endian, with 42 for TIFF or 43 for BigTIFF. */
    TIFF(Set.of("II*\0", "MM\0*", "II+\0", "MM\0+"), "tif", "tiff"),
    WEBP(Set.of("RIFF"), "webp");

    /** Extensions of images in unsupported formats, which the decoder reports one by one. */
    private static final Set<String> UNSUPPORTED = Set.of(
            "heic", "heif", "avif", "jp2", "j2k", "jpx", "jxl", "ppm", "pgm", "pbm", "pnm", "tga", "psd", "exr", "hdr",
            "svg", "raw", "dng", "cr2", "cr3", "nef", "arw", "orf", "rw2");

    /** The brands with which a file of the container of HEIC and AVIF is compatible begin at byte 16. */
    private static final String AT_16 = "????????????????";

    /** Sizes of the second header of a BMP, one for each version. */
    private static final List<Integer> BMP_HEADERS = List.of(12, 40, 52, 56, 64, 108, 124);

    @SuppressWarnings("ImmutableEnumChecker") // made by Set.of
    private final Set<String> signatures;

    @SuppressWarnings("ImmutableEnumChecker") // made by Set.of
    private final Set<String> extensions;

    /** @param signatures first bytes, in ISO 8859-1 */
    ImageFormat(Set<String> signatures, String... extensions) {
        this.signatures = signatures;
        this.extensions = Set.of(extensions);
    }

    /** Detects the format by the first bytes of a file. */
    public static Optional<ImageFormat> of(byte[] content) {
        return Arrays.stream(values()).filter(format -> format.matches(content)).findFirst();
    }

    private boolean matches(byte[] content) {
        return signatures.stream().anyMatch(signature -> starts(content, 0, signature))
                && switch (this) {
                    case WEBP -> starts(content, 8, "WEBP");
                    // Many texts begin with BM: the size of the second header is checked too.
                    case BMP ->
                        BMP_HEADERS.stream().anyMatch(size -> starts(content, 14, (char) size.intValue() + "\0\0\0"));
                    default -> true;
                };
    }

    static boolean starts(byte[] content, int from, String text) {
        byte[] wanted = text.getBytes(StandardCharsets.ISO_8859_1);
        return content.length >= from + wanted.length
                && Arrays.equals(content, from, from + wanted.length, wanted, 0, wanted.length);
    }

    /** Returns whether a name has the extension of an image, in any case, and is not hidden. */
    public static boolean isImage(String name) {
        return !isHidden(name)
                && name.indexOf('.') > 0
                && (UNSUPPORTED.contains(extension(name))
                        || Arrays.stream(values()).anyMatch(format -> format.hasExtension(name)));
    }

    /** Returns whether a name has an extension of this format, in any case. */
    public boolean hasExtension(String name) {
        return extensions.contains(extension(name));
    }

    private static String extension(String name) {
        return name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
    }

    /**
     * Returns whether a file with another name, as {@code img_0001} or {@code a.jpg_large}, has the first bytes of a known image
     * format, supported or not.
     */
    public static boolean beginsAsImage(Path file) {
        byte[] first = first(file);
        return of(first).isPresent()
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

    /** Formats that are recognized by their first bytes but not read, each with the command that converts it. */
    enum UnsupportedFormat {
        AVIF("AVIF", "ffmpeg -i IMAGE.avif IMAGE.png", "????ftypavi", AT_16 + "avif", AT_16 + "????avif"),
        HEIC("HEIC", "heif-convert IMAGE.heic IMAGE.jpg", "????ftyphe", "????ftypmif1", "????ftypmsf1"),
        JPEG_XL("JPEG XL", "djxl IMAGE.jxl IMAGE.png", "\0\0\0\fJXL ", "\u00ff\n"),
        JPEG_2000("JPEG 2000", "opj_decompress -i IMAGE.jp2 -o IMAGE.png", "\0\0\0\fjP  ", "\u00ffO\u00ffQ"),
        /** ISO base media, AVI, Matroska and WebM, MPEG program stream and video, ASF and WMV, Flash. */
        VIDEO(
                "a video",
                "ffmpeg -i VIDEO -vf fps=1 frame-%04d.jpg",
                "????ftyp",
                "????moov",
                "????mdat",
                "????wide",
                "????????AVI LIST",
                "\u001aE\u00df\u00a3",
                "\0\0\1\u00ba",
                "\0\0\1\u00b3",
                "0&\u00b2u\u008ef\u00cf\u0011",
                "FLV\1");

        static final int MAGIC_BYTES = 64;

        private final String word;
        private final String command;

        @SuppressWarnings("ImmutableEnumChecker") // made by List.of
        private final List<String> signatures;

        /** @param signatures first bytes, in ISO 8859-1, of which those up to the last question mark may be any */
        UnsupportedFormat(String word, String command, String... signatures) {
            this.word = word;
            this.command = command;
            this.signatures = List.of(signatures);
        }

        /** Detects the format by the first bytes of a file; Canon's raw files share the container of videos. */
        static Optional<UnsupportedFormat> of(byte[] content) {
            return Arrays.stream(values())
                    .filter(format -> format.signatures.stream().anyMatch(signature -> begins(content, signature)))
                    .filter(_ -> !starts(content, 8, "crx "))
                    .findFirst();
        }

        private static boolean begins(byte[] content, String signature) {
            int from = signature.lastIndexOf('?') + 1;
            return starts(content, from, signature.substring(from));
        }

        /** Returns the format and how to convert it, as {@code HEIC; convert it with: heif-convert IMAGE.heic IMAGE.jpg}. */
        String advice() {
            return word + "; " + (this == VIDEO ? "extract images with: " : "convert it with: ") + command;
        }
    }
}
