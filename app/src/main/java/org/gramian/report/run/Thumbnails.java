package org.gramian.report.run;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.Thumbnail;
import org.gramian.image.ReadResult;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;

/** Source of thumbnails by image name. */
@FunctionalInterface
public interface Thumbnails {
    /** Returns a thumbnail as JPEG; empty if the image is not available. */
    Optional<byte[]> jpeg(String name);

    /** Returns whether each thumbnail requires decoding an image, so that only those shown should be requested. */
    default boolean decodes() {
        return false;
    }

    static Thumbnails of(Gallery gallery) {
        Map<String, Integer> places = new HashMap<>();
        for (int i = 0; i < gallery.items().size(); i++) {
            places.put(gallery.items().get(i).name(), i);
        }
        return name -> Optional.ofNullable(places.get(name)).map(gallery::thumbnail);
    }

    /** Returns the thumbnails of a dataset, each decoded on request. */
    static Thumbnails of(Dataset dataset, Function<Path, ReadResult> reader) {
        Map<String, Path> files = new HashMap<>();
        for (Sample sample : dataset.samples()) {
            files.put(sample.name(), sample.file());
        }
        return new Thumbnails() {
            @Override
            public Optional<byte[]> jpeg(String name) {
                return Optional.ofNullable(files.get(name))
                        .map(reader)
                        .flatMap(reading -> reading instanceof ReadResult.Readable(var image, var _)
                                ? Optional.of(Thumbnail.of(image))
                                : Optional.empty());
            }

            @Override
            public boolean decodes() {
                return true;
            }
        };
    }
}
