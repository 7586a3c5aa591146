package org.gramian.image;

import java.util.List;
import java.util.Optional;

/** Formats that are recognized by their first bytes but not read, each with the command that converts it. */
enum UnsupportedFormat {
    HEIC("HEIC", "heif-convert IMAGE.heic IMAGE.jpg"),
    AVIF("AVIF", "ffmpeg -i IMAGE.avif IMAGE.png"),
    JPEG_XL("JPEG XL", "djxl IMAGE.jxl IMAGE.png"),
    JPEG_2000("JPEG 2000", "opj_decompress -i IMAGE.jp2 -o IMAGE.png"),
    VIDEO("a video", "ffmpeg -i VIDEO -vf fps=1 frame-%04d.jpg");

    /** Number of first bytes that identify a format. */
    static final int MAGIC_BYTES = 64;

    private static final List<String> HEIF_BRANDS =
            List.of("heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1");
    private static final List<String> AVIF_BRANDS = List.of("avif", "avis");

    /** Camera raw files share the container of videos. */
    private static final String CANON_RAW = "crx ";

    private final String word;
    private final String command;

    UnsupportedFormat(String word, String command) {
        this.word = word;
        this.command = command;
    }

    /** Detects the format by the first bytes of a file. */
    static Optional<UnsupportedFormat> of(byte[] content) {
        if (ImageFormat.starts(content, 4, "ftyp")) {
            return container(content);
        }
        if (ImageFormat.starts(content, 0, "\0\0\0\fJXL ") || ImageFormat.starts(content, 0, "\u00ff\n")) {
            return Optional.of(JPEG_XL);
        }
        if (ImageFormat.starts(content, 0, "\0\0\0\fjP  ") || ImageFormat.starts(content, 0, "\u00ffO\u00ffQ")) {
            return Optional.of(JPEG_2000);
        }
        return isVideo(content) ? Optional.of(VIDEO) : Optional.empty();
    }

    /** ISO base media files name their brand at byte 8, and compatible ones from byte 16 on. */
    private static Optional<UnsupportedFormat> container(byte[] content) {
        if (ImageFormat.starts(content, 8, CANON_RAW)) {
            return Optional.empty();
        }
        boolean heif = HEIF_BRANDS.stream().anyMatch(brand -> ImageFormat.starts(content, 8, brand));
        int end = Math.min(content.length, content.length < 4 ? 0 : Byte.toUnsignedInt(content[3]));
        boolean avif = AVIF_BRANDS.stream().anyMatch(brand -> ImageFormat.starts(content, 8, brand));
        for (int at = 16; heif && at + 4 <= end; at += 4) { // an AVIF file may name the general brand mif1 first
            int place = at;
            avif |= AVIF_BRANDS.stream().anyMatch(brand -> ImageFormat.starts(content, place, brand));
        }
        return Optional.of(avif ? AVIF : heif ? HEIC : VIDEO);
    }

    private static boolean isVideo(byte[] content) {
        return (ImageFormat.starts(content, 0, "RIFF") && ImageFormat.starts(content, 8, "AVI "))
                || ImageFormat.starts(content, 0, "\u001aE\u00df\u00a3") // Matroska, WebM
                || ImageFormat.starts(content, 0, "\0\0\1\u00ba") // MPEG program stream
                || ImageFormat.starts(content, 0, "\0\0\1\u00b3") // MPEG video
                || ImageFormat.starts(content, 0, "0&\u00b2u\u008ef\u00cf\u0011") // ASF, WMV
                || ImageFormat.starts(content, 0, "FLV\1")
                || ImageFormat.starts(content, 4, "moov")
                || ImageFormat.starts(content, 4, "mdat")
                || ImageFormat.starts(content, 4, "wide");
    }

    /** Returns the format and how to convert it, as {@code HEIC; convert it with: heif-convert IMAGE.heic IMAGE.jpg}. */
    String advice() {
        return word + "; " + (this == VIDEO ? "extract images with: " : "convert it with: ") + command;
    }
}
