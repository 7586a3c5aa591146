package org.gramian.report.run;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.function.Supplier;
import org.gramian.gallery.Gallery;
import org.gramian.image.ReadResult;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.resize.Thumbnail;

/** Thumbnails of a page, each stored once (about 4 kB) and referenced by number. First come, first served. */
public final class ImageSheet {
    /** Most thumbnails of a page: about 4 MB. */
    public static final int MOST = 1_000;

    /**
     * Source of thumbnails, as JPEG by image name; empty if the image is not available.
     *
     * @param decodes whether each thumbnail requires decoding an image, so that only those shown should be requested
     */
    public record Thumbnails(Function<String, Optional<byte[]>> source, boolean decodes) {
        static Thumbnails of(List<Gallery> galleries) {
            Map<String, Supplier<byte[]>> jpegs = new HashMap<>();
            for (Gallery gallery : galleries) {
                for (int i = 0; i < gallery.items().size(); i++) {
                    int index = i;
                    jpegs.putIfAbsent(gallery.items().get(i).name(), () -> gallery.thumbnail(index));
                }
            }
            return new Thumbnails(name -> Optional.ofNullable(jpegs.get(name)).map(Supplier::get), false);
        }

        /** Returns the thumbnails of a dataset, each decoded on request. */
        public static Thumbnails of(Dataset dataset, Function<Path, ReadResult> reader) {
            Map<String, Path> files = new HashMap<>();
            dataset.samples().forEach(sample -> files.put(sample.name(), sample.file()));
            return new Thumbnails(
                    name -> Optional.ofNullable(files.get(name)).map(reader).flatMap(Thumbnail::of), true);
        }
    }

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
