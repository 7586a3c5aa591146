package org.gramian.report.run.material;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.gramian.gallery.Gallery;
import org.gramian.image.ReadResult;
import org.gramian.image.Thumbnail;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;

/** Small copies of images by name, as JPEG. */
@FunctionalInterface
public interface Thumbnails {
    /** No image is at hand. */
    Thumbnails NONE = _ -> Optional.empty();

    /** The content of a small JPEG file; nothing where the image is not at hand. */
    Optional<byte[]> jpeg(String name);

    /** Whether a whole image is decoded for each answer, so that it is asked for no more than is shown. */
    default boolean decodes() {
        return false;
    }

    /** Those that a run kept. */
    static Thumbnails of(Gallery gallery) {
        Map<String, Integer> places = new HashMap<>();
        for (int i = 0; i < gallery.items().size(); i++) {
            places.put(gallery.items().get(i).name(), i);
        }
        return name -> Optional.ofNullable(places.get(name)).map(gallery::thumbnail);
    }

    /** Those of a dataset, each read when it is asked for. */
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
