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
import org.gramian.basis.EvenSample;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.GalleryBuilder;
import org.gramian.gallery.Item;
import org.gramian.gallery.Part;
import org.gramian.image.ImageReader;
import org.gramian.image.ReadResult;
import org.gramian.image.Thumbnail;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Model;
import org.gramian.model.UnreadableImageException;
import org.gramian.train.loop.ImageDescriptors;
import org.gramian.train.loop.TrainEvent;
import org.gramian.train.loop.TrainingData;

/**
 * Builds the gallery of a fold: its images, evenly spread if there are too many, each with the mean descriptor of its test crops.
 *
 * <p>The mean over crops, not the centre crop: neighbours are then near by the descriptors that predictions come from. With a frozen
 * backbone it costs no more, see {@link ImageDescriptors}.
 *
 * @param classes names
 * @param descriptors computes the descriptors of the fold's images
 */
record FoldGallery(List<String> classes, ImageDescriptors descriptors) {
    private static final String TASK = "thumbnails";

    /**
     * Builds the gallery.
     *
     * @param fingerprint of the model's file
     */
    Gallery make(String fingerprint) throws IOException {
        return make(fingerprint, Gallery.MOST_OF_A_PART);
    }

    Gallery make(String fingerprint, int mostOfAPart) throws IOException {
        Model model = descriptors.model();
        TrainingData.Parts split = descriptors.data().parts();
        Map<Part, List<Sample>> parts = new EnumMap<>(Part.class);
        parts.put(Part.TRAINING, split.training());
        parts.put(Part.HELD_BACK, split.validation());
        parts.put(Part.TEST, split.test());
        long size = model.head().pooling().descriptorSize(model.backbone().channels());
        GalleryBuilder gallery = new GalleryBuilder(classes, size, fingerprint);
        List<Item> items = new ArrayList<>();
        List<Sample> samples = new ArrayList<>();
        parts.forEach((part, all) -> {
            List<Sample> some = EvenSample.of(all, mostOfAPart);
            some.forEach(sample -> items.add(new Item(sample.name(), sample.label(), part)));
            samples.addAll(some);
            gallery.leaveOut(part, all.size() - some.size());
        });
        List<byte[]> thumbnails = thumbnails(samples);
        descriptors.run(samples, (i, crops) -> gallery.add(items.get(i), thumbnails.get(i), crops));
        return gallery.build();
    }

    private List<byte[]> thumbnails(List<Sample> samples) throws IOException {
        ImageReader reader = new ImageReader(descriptors.data().extraction().limits());
        try (ExecutorService pool = Executors.newFixedThreadPool(descriptors.context().threads())) {
            List<Future<byte[]>> made = samples.stream()
                    .map(sample -> pool.submit(() -> thumbnail(reader, sample.file())))
                    .toList();
            try {
                List<byte[]> all = new ArrayList<>();
                for (Future<byte[]> one : made) {
                    all.add(one.get());
                    descriptors.context().measuring(new TrainEvent.Collecting(TASK, all.size(), made.size()));
                }
                return all;
            } finally {
                pool.shutdownNow(); // else closing waits for all thumbnails after an interruption
            }
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof IOException cause ? cause : new IOException(failed.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while thumbnails were made", interrupted);
        }
    }

    private static byte[] thumbnail(ImageReader reader, Path file) throws UnreadableImageException {
        return switch (reader.read(file)) {
            case ReadResult.Readable(var image, var _) -> Thumbnail.of(image);
            case ReadResult.Unreadable problem -> throw new UnreadableImageException(file, problem);
        };
    }
}
