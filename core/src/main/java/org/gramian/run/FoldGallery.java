package org.gramian.run;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.gramian.basis.EvenSpread;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.GalleryBuilder;
import org.gramian.gallery.Item;
import org.gramian.gallery.Part;
import org.gramian.image.PictureReader;
import org.gramian.image.Reading;
import org.gramian.image.Thumbnail;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Model;
import org.gramian.model.UnreadablePictureException;
import org.gramian.train.loop.Material;
import org.gramian.train.loop.PictureDescriptors;
import org.gramian.train.loop.TrainEvent;

/**
 * Makes the gallery of a fold: its pictures, evenly spread where there are too many, each described once as the model sees it
 * when it predicts, by the mean over its test crops.
 *
 * <p>The mean rather than the centre alone: what is near is then near by the very descriptors that the answer comes from, and
 * costs no more where the network stayed frozen, see {@link PictureDescriptors}.
 *
 * @param classes names
 * @param material the pictures and how they are seen
 * @param describing gives descriptors
 */
record FoldGallery(List<String> classes, Material material, PictureDescriptors describing) {
    private static final String TASK = "thumbnails";

    /**
     * Makes it.
     *
     * @param fingerprint of the model's file
     */
    Gallery make(String fingerprint) throws IOException {
        return make(fingerprint, Gallery.MOST_OF_A_PART);
    }

    Gallery make(String fingerprint, int mostOfAPart) throws IOException {
        Model model = describing.model();
        Map<Part, List<Sample>> parts = new EnumMap<>(Part.class);
        parts.put(Part.TRAINING, material.parts().training());
        parts.put(Part.HELD_BACK, material.parts().heldBack());
        parts.put(Part.TEST, material.parts().test());
        long size = model.head().pooling().descriptorSize(model.backbone().channels());
        GalleryBuilder gallery = new GalleryBuilder(classes, size, fingerprint);
        List<Item> items = new ArrayList<>();
        List<Sample> samples = new ArrayList<>();
        parts.forEach((part, all) -> {
            List<Sample> some = EvenSpread.of(all, mostOfAPart);
            some.forEach(sample -> items.add(new Item(sample.name(), sample.label(), part)));
            samples.addAll(some);
            gallery.leaveOut(part, all.size() - some.size());
        });
        List<byte[]> thumbnails = thumbnails(samples);
        describing.run(samples, (i, crops) -> gallery.add(items.get(i), thumbnails.get(i), crops));
        return gallery.build();
    }

    private List<byte[]> thumbnails(List<Sample> samples) throws IOException {
        PictureReader reader = new PictureReader(material.extraction().limits());
        try (ExecutorService pool = Executors.newFixedThreadPool(material.threads())) {
            List<Future<byte[]>> made = samples.stream()
                    .map(sample -> pool.submit(() -> thumbnail(reader, sample.file())))
                    .toList();
            try {
                List<byte[]> all = new ArrayList<>();
                for (Future<byte[]> one : made) {
                    all.add(one.get());
                    describing.session().measuring(new TrainEvent.Collecting(TASK, all.size(), made.size()));
                }
                return all;
            } finally {
                pool.shutdownNow(); // else closing it waits for all that nobody wants after a break
            }
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof IOException cause ? cause : new IOException(failed.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while thumbnails were made", interrupted);
        }
    }

    private static byte[] thumbnail(PictureReader reader, Path file) throws UnreadablePictureException {
        return switch (reader.read(file)) {
            case Reading.Readable(var picture, var _) -> Thumbnail.of(picture);
            case Reading.Unreadable problem -> throw new UnreadablePictureException(file, problem);
        };
    }
}
