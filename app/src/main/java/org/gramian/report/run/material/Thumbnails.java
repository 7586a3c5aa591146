package org.gramian.report.run.material;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.gramian.gallery.Gallery;
import org.gramian.image.Reading;
import org.gramian.image.Thumbnail;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;

/** Small copies of pictures by name, as JPEG. */
@FunctionalInterface
public interface Thumbnails {
    /** No picture is at hand. */
    Thumbnails NONE = _ -> Optional.empty();

    /** The content of a small JPEG file; nothing where the picture is not at hand. */
    Optional<byte[]> jpeg(String name);

    /** Those that a run kept. */
    static Thumbnails of(Gallery gallery) {
        Map<String, Integer> places = new HashMap<>();
        for (int i = 0; i < gallery.items().size(); i++) {
            places.put(gallery.items().get(i).name(), i);
        }
        return name -> Optional.ofNullable(places.get(name)).map(gallery::thumbnail);
    }

    /** Those of a data set, each read when it is asked for. */
    static Thumbnails of(Dataset dataset, Function<Path, Reading> reader) {
        Map<String, Path> files = new HashMap<>();
        for (Sample sample : dataset.samples()) {
            files.put(sample.name(), sample.file());
        }
        return name -> Optional.ofNullable(files.get(name))
                .map(reader)
                .flatMap(reading -> reading instanceof Reading.Readable(var picture, var _)
                        ? Optional.of(Thumbnail.of(picture))
                        : Optional.empty());
    }
}
