package org.gramian.image.dataset.layout;

import java.util.Locale;
import java.util.Set;

/** Tells by its name whether a file of a folder is meant to be a picture; what it really is, the decoder says. */
final class PictureNames {
    /** The usual extensions of the formats that are read, see {@link org.gramian.image.PictureFormat}. */
    private static final Set<String> EXTENSIONS =
            Set.of("jpg", "jpeg", "jpe", "jfif", "png", "gif", "bmp", "dib", "tif", "tiff", "webp");

    private PictureNames() {}

    /** Whether the name has a picture's extension, in any case, and is not hidden ({@code ._a.jpg} is not a picture). */
    static boolean isPicture(String name) {
        int dot = name.lastIndexOf('.');
        return !isHidden(name)
                && dot > 0
                && EXTENSIONS.contains(name.substring(dot + 1).toLowerCase(Locale.ROOT));
    }

    static boolean isHidden(String name) {
        return name.startsWith(".");
    }
}
