package org.gramian.report.run;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.gramian.gallery.Thumbnail;

/** Thumbnails of a page, each stored once (about 4 kB) and referenced by number. First come, first served. */
public final class ImageSheet {
    /** Most thumbnails of a page: about 4 MB. */
    public static final int MOST = 1_000;

    /** Key of the cache: an image may be requested many times, and decoding is slow. */
    private record Key(Thumbnails source, String name) {}

    private final Map<Key, OptionalInt> known = new HashMap<>();
    private final Map<String, Integer> numbers = new LinkedHashMap<>();
    private boolean overflowed;

    /** Returns the number of a thumbnail; empty if the image is not available or the page is full. */
    OptionalInt place(String name, Thumbnails source) {
        return known.computeIfAbsent(new Key(source, name), _ -> {
            if (full() && source.decodes()) {
                overflowed = true;
                return OptionalInt.empty();
            }
            return source.source()
                    .apply(name)
                    .map(Thumbnail::source)
                    .map(this::place)
                    .orElse(OptionalInt.empty());
        });
    }

    private OptionalInt place(String image) {
        if (!numbers.containsKey(image) && full()) {
            overflowed = true;
            return OptionalInt.empty();
        }
        return OptionalInt.of(numbers.computeIfAbsent(image, _ -> numbers.size()));
    }

    /** Returns whether the page takes no more images. */
    boolean full() {
        return numbers.size() >= MOST;
    }

    /** Returns whether an image was left out because the page is full. */
    public boolean overflowed() {
        return overflowed;
    }

    /** Returns the data URIs by number. */
    public List<String> images() {
        return List.copyOf(numbers.keySet());
    }
}
