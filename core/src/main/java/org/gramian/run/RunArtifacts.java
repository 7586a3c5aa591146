package org.gramian.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.gramian.basis.ParallelLoop;
import org.gramian.basis.QuotedText;
import org.gramian.basis.Sha256;
import org.gramian.basis.Subsample;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.Gallery.GalleryBuilder;
import org.gramian.gallery.Gallery.Item;
import org.gramian.gallery.Gallery.Subset;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ReadResult;
import org.gramian.image.dataset.Sample;
import org.gramian.image.resize.Thumbnail;
import org.gramian.inspect.Inspector;
import org.gramian.inspect.SpdInspection;
import org.gramian.model.Model;
import org.gramian.model.ModelFile;
import org.gramian.model.UnreadableImageException;
import org.gramian.run.config.TrainConfig;
import org.gramian.train.event.TrainEvent.Task;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.TrainingContext;
import org.gramian.train.loop.TrainingData;

/**
 * Files for the report, written beside the model of a fold: its gallery (thumbnails and descriptors) and statistics of
 * its pooling. A failure is only a warning, since the model is complete.
 *
 * @param context context of the fold; these files may use its whole time budget, the reserved time included
 */
record RunArtifacts(FoldFolder folder, RunPlan plan, String fold, TrainingData data, TrainingContext context) {
    /** Writes the files that are missing or belong to an earlier model. */
    Optional<Cancellation.Reason> complete(Optional<Model> trained) {
        if (!plan.config().get(TrainConfig.GALLERY)) {
            return Optional.empty();
        }
        if (context.cancellation().isUsed(1)) {
            return Optional.of(Cancellation.Reason.OUT_OF_TIME);
        }
        TrainingContext limited = context.withListener(event -> {
            if (context.cancellation().isUsed(1)) {
                throw new InterruptedTrainingException(Cancellation.Reason.OUT_OF_TIME);
            }
            context.send(event);
        });
        try {
            String fingerprint = Sha256.hex(Sha256.of(folder.model()));
            boolean inspected = isOf(
                    fingerprint,
                    SpdInspection.FILE,
                    file -> SpdInspection.read(file).model());
            boolean shown =
                    isOf(fingerprint, Gallery.FILE, file -> Gallery.read(file).model());
            if (inspected && shown) {
                return Optional.empty();
            }
            try (ModelFile.Stored stored =
                    trained.isPresent() ? null : ModelFile.read(folder.model(), context.device())) {
                Model model =
                        trained.orElseGet(() -> Objects.requireNonNull(stored).model());
                if (!inspected) {
                    inspect(model, fingerprint, limited).write(file(SpdInspection.FILE));
                }
                if (!shown) {
                    buildGallery(model, fingerprint, limited).write(file(Gallery.FILE));
                }
            }
            return Optional.empty();
        } catch (InterruptedTrainingException stopped) {
            return Optional.of(stopped.reason());
        } catch (IOException | RuntimeException | OutOfMemoryError failed) {
            context.warn("gallery or pooling statistics failed for " + QuotedText.text(fold)
                    + ": " + failed.getMessage()
                    + "; the model is complete; retry with 'gramian train --resume'");
            return Optional.empty();
        }
    }

    private SpdInspection inspect(Model model, String fingerprint, TrainingContext limited) throws IOException {
        List<Sample> test = data.parts().test();
        int all = Math.min(test.size(), Inspector.MAX_IMAGES);
        return new Inspector(model, data.rendering(data.testCrops()), context.threads())
                .inspect(test, fingerprint, done -> limited.measuring(new Task("pooling statistics", done, all)));
    }

    /**
     * Builds the gallery: images of the fold, or an even subsample, each with the mean descriptor of its test crops.
     *
     * <p>The mean over crops, not the centre crop: nearest neighbours then use the same crops as predictions. With a
     * frozen backbone it costs no more, see {@link TrainingData#describe}.
     */
    private Gallery buildGallery(Model model, String fingerprint, TrainingContext limited) throws IOException {
        TrainingData.Parts split = data.parts();

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
        byte[][] thumbnails = thumbnails(samples, limited);
        data.describe(
                model,
                plan.config().recipe().stage2().epochs() > 0,
                samples,
                limited,
                (crops, i) -> gallery.add(items.get(i), thumbnails[i], crops));
        return gallery.build();
    }

    private byte[][] thumbnails(List<Sample> samples, TrainingContext limited) throws IOException {
        ImageReader reader = new ImageReader(ImageLimits.DEFAULT);
        byte[][] made = new byte[samples.size()][];
        try {
            ParallelLoop.forEach(
                    made.length,
                    context.threads(),
                    done -> limited.measuring(new Task("thumbnails", done, made.length)),
                    i -> made[i] = thumbnail(reader, samples.get(i).file()));
            return made;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while thumbnails were made", interrupted);
        }
    }

    private static byte[] thumbnail(ImageReader reader, Path file) {
        return switch (reader.read(file)) {
            case ReadResult.Readable(var image, var _) -> Thumbnail.of(image);
            case ReadResult.Unreadable problem -> {
                UnreadableImageException unreadable = new UnreadableImageException(file, problem);
                throw new UncheckedIOException(unreadable.getMessage(), unreadable);
            }
        };
    }

    @FunctionalInterface
    private interface Fingerprint {
        String of(Path file) throws IOException;
    }

    /** Returns whether a file is that of the model; a damaged one is written again. */
    private boolean isOf(String fingerprint, String name, Fingerprint read) {
        try {
            return Files.exists(file(name)) && read.of(file(name)).equals(fingerprint);
        } catch (IOException damaged) {
            return false;
        }
    }

    private Path file(String name) {
        return folder.path().resolve(name);
    }
}
