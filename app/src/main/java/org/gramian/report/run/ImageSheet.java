package org.gramian.report.run;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.gramian.gallery.Thumbnail;

/**
 * Thumbnails of a page, each stored once (about 4 kB) and referenced by number. First come, first served.
 */
public final class ImageSheet {
    /** Most thumbnails of a page: about 4 MB. */
    public static final int MOST = 1_000;

    /** Key of the cache: an image may be requested many times, and decoding is slow. */
    private record Key(Thumbnails source, String name) {}

    private final Map<Key, OptionalInt> known = new HashMap<>();
    private final Map<String, Integer> places = new LinkedHashMap<>();
    private boolean overflowed;

    /** Returns the number of a thumbnail; empty if the image is not available or the page is full. */
    OptionalInt place(String name, Thumbnails source) {
        Key key = new Key(source, name);
        OptionalInt before = known.get(key);
        if (before != null) {
            return before;
        }
        OptionalInt found = OptionalInt.empty();
        if (full() && source.decodes()) {
            overflowed = true;
        } else {
            found = source.jpeg(name).map(Thumbnail::source).map(this::place).orElse(OptionalInt.empty());
        }
        known.put(key, found);
        return found;
    }

    private OptionalInt place(String image) {
        Integer number = places.get(image);
        if (number != null) {
            return OptionalInt.of(number);
        }
        if (full()) {
            overflowed = true;
            return OptionalInt.empty();
        }
        places.put(image, places.size());
        return OptionalInt.of(places.size() - 1);
    }

    /** Returns whether the page takes no more images. */
    boolean full() {
        return places.size() >= MOST;
    }

    /** Returns whether an image was left out because the page is full. */
    public boolean overflowed() {
        return overflowed;
    }

    /** Returns the data URIs by number. */
    public List<String> images() {
        return new ArrayList<>(places.keySet());
    }
}
