package org.gramian.report.run;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.gramian.image.Thumbnail;
import org.gramian.report.run.material.Thumbnails;

/**
 * The small pictures of a page, each stored once however often it is shown, in bounded number: those asked for first are
 * there, about 4 kB each.
 */
public final class PictureSheet {
    /** So many at most on a page: about four megabytes. */
    public static final int MOST = 1_000;

    private final Map<String, Integer> places = new LinkedHashMap<>();
    private int refused;

    /** A picture's number on the page; none where it is not at hand or the page is full. */
    OptionalInt place(String name, Thumbnails source) {
        return source.jpeg(name).map(Thumbnail::source).map(this::place).orElse(OptionalInt.empty());
    }

    private OptionalInt place(String image) {
        Integer known = places.get(image);
        if (known != null) {
            return OptionalInt.of(known);
        }
        if (places.size() >= MOST) {
            refused++;
            return OptionalInt.empty();
        }
        places.put(image, places.size());
        return OptionalInt.of(places.size() - 1);
    }

    /** Whether no more pictures are taken. */
    boolean full() {
        return places.size() >= MOST;
    }

    /** Whether a picture was turned away. */
    public boolean overflowed() {
        return refused > 0;
    }

    /** The sources of {@code image} elements, by number. */
    public List<String> images() {
        return new ArrayList<>(places.keySet());
    }
}
