package org.gramian.report.run;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.gramian.image.Thumbnail;
import org.gramian.report.run.material.Thumbnails;

/**
 * The small images of a page, each stored once however often it is shown, in bounded number: those asked for first are
 * there, about 4 kB each.
 */
public final class ImageSheet {
    /** So many at most on a page: about four megabytes. */
    public static final int MOST = 1_000;

    /** An image is asked for many times, but got once: it may have to be decoded. */
    private record Wanted(Thumbnails source, String name) {}

    private final Map<Wanted, OptionalInt> known = new HashMap<>();
    private final Map<String, Integer> places = new LinkedHashMap<>();
    private boolean overflowed;

    /** An image's number on the page; none where it is not at hand or the page is full. */
    OptionalInt place(String name, Thumbnails source) {
        Wanted wanted = new Wanted(source, name);
        OptionalInt before = known.get(wanted);
        if (before != null) {
            return before;
        }
        OptionalInt found = OptionalInt.empty();
        if (full() && source.decodes()) {
            overflowed = true;
        } else {
            found = source.jpeg(name).map(Thumbnail::source).map(this::place).orElse(OptionalInt.empty());
        }
        known.put(wanted, found);
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

    /** Whether no more images are taken. */
    boolean full() {
        return places.size() >= MOST;
    }

    /** Whether an image was turned away. */
    public boolean overflowed() {
        return overflowed;
    }

    /** The sources of {@code image} elements, by number. */
    public List<String> images() {
        return new ArrayList<>(places.keySet());
    }
}
