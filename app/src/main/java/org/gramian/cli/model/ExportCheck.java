package org.gramian.cli.model;

import org.gramian.cli.common.Console;
import org.gramian.cli.common.Progress;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.gramian.export.EngineDifference;
import org.gramian.export.OnnxEngine;
import org.gramian.image.Image;
import org.gramian.image.ReadResult;
import org.gramian.image.batch.ImageSource;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ModelFile;
import org.gramian.tensor.Shape;

/** Compares an exported file in ONNX Runtime with its model in libtorch, on crops of the same images. */
final class ExportCheck {
    private final ModelFile.Stored stored;
    private final List<Path> files;
    private final Console console;
    private EngineDifference found = EngineDifference.none();
    private int images;

    /** @param files images to compare on; synthetic ones if empty */
    ExportCheck(ModelFile.Stored stored, List<Path> files, Console console) {
        this.stored = stored;
        this.files = files;
        this.console = console;
    }

    /** Returns the largest differences. */
    EngineDifference found() {
        return found;
    }

    /** Returns the number of images and crops as text. */
    String text() {
        return (files.isEmpty() ? images + " synthetic images" : images + " images") + ", " + found.crops() + " crops";
    }

    /** Returns whether all images are readable. */
    boolean complete() {
        return files.isEmpty() || images == files.size();
    }

    void run(Path file, int threads) throws IOException {
        int count = files.isEmpty() ? SyntheticImages.COUNT : files.size();
        try (OnnxEngine engine = OnnxEngine.open(file, threads);
                Progress progress = console.progress("checking", count)) {
            // Not closed: the model stays open.
            Classifier classifier = Classifier.of(Engine.of(stored.model()), stored.card());
            List<Image> synthetic = files.isEmpty() ? SyntheticImages.all() : List.of();
            for (int i = 0; i < count; i++) {
                Optional<Image> image =
                        files.isEmpty() ? Optional.of(synthetic.get(i)) : read(files.get(i), classifier);
                image.ifPresent(readable -> compare(engine, classifier, readable));
                progress.accept(i + 1);
            }
        }
    }

    private Optional<Image> read(Path file, Classifier classifier) {
        return switch (classifier.read(ImageSource.of(file))) {
            case ReadResult.Unreadable problem -> {
                console.warn("skipping " + file + ": " + problem.reason());
                yield Optional.empty();
            }
            case ReadResult.Readable(Image image, var _) -> Optional.of(image);
        };
    }

    private void compare(OnnxEngine engine, Classifier classifier, Image image) {
        int size = classifier.card().crops().size();
        Shape shape = Shape.of(classifier.crops(), 3, size, size);
        found = found.and(EngineDifference.of(engine, classifier.engine(), classifier.render(image), shape));
        images++;
    }
}
