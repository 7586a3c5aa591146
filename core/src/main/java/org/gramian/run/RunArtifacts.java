package org.gramian.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.gramian.basis.QuotedText;
import org.gramian.basis.Sha256;
import org.gramian.basis.Subsample;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.Gallery.GalleryBuilder;
import org.gramian.gallery.Gallery.GalleryFileException;
import org.gramian.gallery.Gallery.Item;
import org.gramian.gallery.Gallery.Subset;
import org.gramian.gallery.Thumbnail;
import org.gramian.image.ImageReader;
import org.gramian.image.ReadResult;
import org.gramian.image.dataset.Sample;
import org.gramian.inspect.Inspector;
import org.gramian.inspect.SpdInspection;
import org.gramian.model.Model;
import org.gramian.model.ModelFile;
import org.gramian.model.UnreadableImageException;
import org.gramian.run.config.TrainConfig;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.Task;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.TrainingContext;
import org.gramian.train.loop.TrainingData;

/**
 * Files for the report, written beside the model of a fold: its gallery (thumbnails and descriptors) and statistics of
 * its pooling. A failure is only a warning, since the model is complete.
 *
 * @param context context of the run; these files may use the whole time budget, the reserved time included
 */
record RunArtifacts(FoldFolder folder, RunPlan plan, String fold, TrainingData data, TrainingContext context) {
    /** Share of the time budget after which these files are left out: the report takes the rest. */
    private static final double REPORT_SHARE = 0.95;

    /** Writes the files that are missing or belong to an earlier model. */
    Optional<Cancellation.Reason> complete(Optional<Model> trained) {
        if (!plan.config().get(TrainConfig.GALLERY)) {
            return Optional.empty();
        }
        try {
            String fingerprint = Sha256.hex(Sha256.of(folder.model()));
            if (isGalleryOf(fingerprint) && isInspectionOf(fingerprint)) {
                return Optional.empty();
            }
            if (trained.isPresent()) {
                make(trained.get(), fingerprint);
            } else {
                try (ModelFile.Stored stored = ModelFile.read(folder.model(), context.device())) {
                    make(stored.model(), fingerprint);
                }
            }
            return Optional.empty();
        } catch (InterruptedTrainingException stopped) {
            return Optional.of(stopped.reason());
        } catch (IOException | RuntimeException | OutOfMemoryError failed) {
            context.listener()
                    .accept(new TrainEvent.Warning("gallery or pooling statistics failed for " + QuotedText.text(fold)
                            + ": " + failed.getMessage()
                            + "; the model is complete; retry with 'gramian train --resume'"));
            return Optional.empty();
        }
    }

    private void make(Model model, String fingerprint) throws IOException {
        if (!isInspectionOf(fingerprint)) {
            inspect(model, fingerprint).write(file(SpdInspection.FILE));
        }
        if (!isGalleryOf(fingerprint)) {
            buildGallery(model, fingerprint).write(file(Gallery.FILE));
        }
    }

    /** Returns a context whose listener forwards events, and throws once the time budget is used but for the report. */
    private TrainingContext training() {
        return context.withListener(event -> {
            if (context.cancellation().isUsed(REPORT_SHARE)) {
                throw new InterruptedTrainingException(Cancellation.Reason.OUT_OF_TIME);
            }
            context.listener().accept(event);
        });
    }

    private SpdInspection inspect(Model model, String fingerprint) throws IOException {
        List<Sample> test = data.parts().test();
        TrainingContext training = training();
        int all = Math.min(test.size(), Inspector.MAX_IMAGES);
        return new Inspector(model, data.rendering(data.testCrops()), context.threads())
                .inspect(test, fingerprint, done -> training.measuring(new Task("pooling statistics", done, all)));
    }

    /**
     * Builds the gallery: images of the fold, or an even subsample, each with the mean descriptor of its test crops.
     *
     * <p>The mean over crops, not the centre crop: nearest neighbours then use the same crops as predictions. With a
     * frozen backbone it costs no more, see {@link TrainingData#describe}.
     */
    private Gallery buildGallery(Model model, String fingerprint) throws IOException {
        TrainingData.Parts split = data.parts();
        TrainingContext training = training();
        Map<Subset, List<Sample>> parts = new EnumMap<>(Subset.class);
        parts.put(Subset.TRAINING, split.training());
        parts.put(Subset.VALIDATION, split.validation());
        parts.put(Subset.TEST, split.test());
        long size = model.head().pooling().descriptorSize(model.backbone().channels());
        GalleryBuilder gallery = new GalleryBuilder(plan.dataset().classes(), size, fingerprint);
        List<Item> items = new ArrayList<>();
        List<Sample> samples = new ArrayList<>();
        parts.forEach((part, all) -> {
            List<Sample> some = Subsample.even(all, Gallery.MAX_OF_SUBSET);
            some.forEach(sample -> items.add(new Item(sample.name(), sample.label(), part)));
            samples.addAll(some);
            gallery.leaveOut(part, all.size() - some.size());
        });
        List<byte[]> thumbnails = thumbnails(samples, training);
        data.describe(
                model,
                plan.config().recipe().stage2().epochs() > 0,
                samples,
                training,
                (i, crops) -> gallery.add(items.get(i), thumbnails.get(i), crops));
        return gallery.build();
    }

    private List<byte[]> thumbnails(List<Sample> samples, TrainingContext training) throws IOException {
        ImageReader reader = new ImageReader(data.extraction().limits());
        try (ExecutorService pool = Executors.newFixedThreadPool(context.threads())) {
            List<Future<byte[]>> made = samples.stream()
                    .map(sample -> pool.submit(() -> thumbnail(reader, sample.file())))
                    .toList();
            try {
                List<byte[]> all = new ArrayList<>();
                for (Future<byte[]> one : made) {
                    all.add(one.get());
                    training.measuring(new Task("thumbnails", all.size(), made.size()));
                }
                return all;
            } finally {
                pool.shutdownNow(); // otherwise close() would wait for all thumbnails after an exception
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

    private boolean isInspectionOf(String fingerprint) {
        Path file = file(SpdInspection.FILE);
        try {
            return Files.exists(file) && SpdInspection.read(file).model().equals(fingerprint);
        } catch (IOException damaged) {
            return false; // written again
        }
    }

    private boolean isGalleryOf(String fingerprint) {
        Path file = file(Gallery.FILE);
        try {
            return Files.exists(file) && Gallery.read(file).model().equals(fingerprint);
        } catch (GalleryFileException damaged) {
            return false; // written again
        }
    }

    private Path file(String name) {
        return folder.path().resolve(name);
    }
}
