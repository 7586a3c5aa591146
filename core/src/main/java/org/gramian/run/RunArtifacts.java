package org.gramian.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.gramian.basis.QuotedText;
import org.gramian.basis.Sha256;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.GalleryFileException;
import org.gramian.image.dataset.Sample;
import org.gramian.inspect.Inspector;
import org.gramian.inspect.SpdInspection;
import org.gramian.model.Model;
import org.gramian.model.ModelFile;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.ImageDescriptors;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.TrainEvent.Collecting;
import org.gramian.train.loop.TrainingData;
import org.gramian.train.loop.TrainingSession;

/**
 * What is laid beside the model of a fold for people to look at, once it is trained: its gallery, and an inspection of its
 * pooling. Whatever goes wrong with them is a remark, for the model is there.
 *
 * @param folder of the fold
 * @param plan of the run
 * @param material the images of the fold
 * @param company who is told, and may stop it
 */
record RunArtifacts(FoldFolder folder, RunPlan plan, TrainingData material, Company company) {
    /** Who is told, and may stop it. */
    record Company(String fold, TrainingSession session, Consumer<RunEvent> events) {}

    /**
     * Makes what is missing, or is that of a former model.
     *
     * @param trained the model as its file has it; where nobody has it in memory it is read, if anything is missing
     * @return why it stopped before its end
     */
    Optional<Cancellation.Reason> complete(Optional<Model> trained) {
        if (!plan.config().gallery()) {
            return Optional.empty();
        }
        try {
            String fingerprint = Sha256.hex(Sha256.of(folder.model()));
            if (!hasGalleryOf(fingerprint) || !hasInspectionOf(fingerprint)) {
                make(trained, fingerprint);
            }
            return Optional.empty();
        } catch (InterruptedTrainingException stopped) {
            return Optional.of(stopped.reason());
        } catch (IOException | RuntimeException | OutOfMemoryError failed) {
            company.events.accept(new RunEvent.Remark(
                    "gallery or pooling statistics failed for " + QuotedText.text(company.fold) + ": "
                            + failed.getMessage() + "; the model is complete; retry with 'gramian train --resume'"));
            return Optional.empty();
        }
    }

    private void make(Optional<Model> trained, String fingerprint) throws IOException {
        if (trained.isPresent()) {
            make(trained.get(), fingerprint);
            return;
        }
        try (ModelFile.Stored stored = ModelFile.read(
                folder.model(), material.extraction().extractor().network().device())) {
            make(stored.model(), fingerprint);
        }
    }

    private void make(Model model, String fingerprint) throws IOException {
        if (!hasInspectionOf(fingerprint)) {
            inspect(model, fingerprint).write(inspection());
        }
        if (!hasGalleryOf(fingerprint)) {
            ImageDescriptors describing =
                    new ImageDescriptors(model, plan.config().recipe(), material, company.session);
            new FoldGallery(plan.dataset().classes(), material, describing)
                    .make(fingerprint)
                    .write(gallery());
        }
    }

    private SpdInspection inspect(Model model, String fingerprint) throws IOException {
        List<Sample> test = material.parts().test();
        int all = Math.min(test.size(), Inspector.MOST_PICTURES);
        return new Inspector(model, material.rendering(material.testCrops()), material.threads())
                .inspect(
                        test,
                        fingerprint,
                        done -> company.session.measuring(new Collecting("pooling statistics", done, all)));
    }

    private boolean hasInspectionOf(String fingerprint) {
        try {
            return Files.exists(inspection())
                    && SpdInspection.read(inspection()).model().equals(fingerprint);
        } catch (IOException damaged) {
            return false; // it is made anew
        }
    }

    private boolean hasGalleryOf(String fingerprint) {
        try {
            return Files.exists(gallery()) && Gallery.read(gallery()).model().equals(fingerprint);
        } catch (GalleryFileException damaged) {
            return false; // it is made anew
        }
    }

    private Path inspection() {
        return folder.path().resolve(SpdInspection.FILE);
    }

    private Path gallery() {
        return folder.path().resolve(Gallery.FILE);
    }
}
