package org.gramian.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.compare.EvaluationFile;
import org.gramian.evaluate.compare.LabelReview;
import org.gramian.gallery.Gallery;
import org.gramian.image.resize.Thumbnail;
import org.gramian.model.ModelFile;

/**
 * The images of a run with suspicious labels as a self-contained HTML file, laid out by the template {@code review.jte}.
 *
 * @param command the command that trains with the corrected list
 */
public record ReviewPage(String name, LabelReview review, Gallery gallery, String command, String version) {
    public static final String FILE = "review.html";

    /** Shown images, each with its neighbours: about 2 MB. */
    public static final int MAX_SHOWN = 120;

    private static final int NEIGHBOURS = 3;

    /** Thumbnail of an image with its class. */
    public record LabelledThumbnail(String name, String label, String source) {}

    /**
     * Writes {@value LabelReview#FILE} and the page into the folder of a finished fold. Does nothing without a gallery, or if the
     * list exists, which may have been edited.
     *
     * @return the page, if it was written
     */
    public static Optional<Path> write(Path folder, String command, String version) throws IOException {
        Path list = folder.resolve(LabelReview.FILE);
        Optional<Gallery> gallery = Gallery.beside(folder.resolve(ModelFile.NAME));
        if (Files.exists(list) || gallery.isEmpty()) {
            return Optional.empty();
        }
        List<Evaluation> unseen = new ArrayList<>();
        unseen.add(EvaluationFile.read(folder.resolve(EvaluationFile.FILE)));
        Path outOfFold = folder.resolve(EvaluationFile.OUT_OF_FOLD);
        if (Files.exists(outOfFold)) {
            unseen.add(EvaluationFile.read(outOfFold));
        }
        LabelReview review = LabelReview.of(gallery.get(), unseen);
        String name = String.valueOf(folder.toAbsolutePath().normalize().getFileName());
        ReviewPage page = new ReviewPage(name, review, gallery.get(), command, version);
        Path html = folder.resolve(FILE);
        new ReportFile(html).write(ReportFile.render("review.jte", page));
        review.write(list); // last: it marks a finished review
        return Optional.of(html);
    }

    /** Returns the images whose label is not the suggested one. */
    public List<LabelReview.Row> suspicious() {
        return review.rows().stream().filter(LabelReview.Row::isSuspicious).toList();
    }

    public LabelledThumbnail thumbnail(int index) {
        Gallery.Item item = gallery.items().get(index);
        return new LabelledThumbnail(
                item.name(), gallery.classes().get(item.label()), Thumbnail.source(gallery.thumbnail(index)));
    }

    public List<LabelledThumbnail> neighbours(LabelReview.Row row) {
        return row.neighbours().stream().limit(NEIGHBOURS).map(this::thumbnail).toList();
    }
}
