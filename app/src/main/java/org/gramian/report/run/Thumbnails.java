package org.gramian.report.run;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.Thumbnail;
import org.gramian.image.ReadResult;
import org.gramian.image.dataset.Dataset;

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
