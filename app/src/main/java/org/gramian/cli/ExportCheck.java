package org.gramian.cli;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.gramian.export.EngineDifference;
import org.gramian.export.OnnxEngine;
import org.gramian.image.Image;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.ReadResult;
import org.gramian.image.batch.Rendering;
import org.gramian.model.Engine;
import org.gramian.model.ModelFile;
import org.gramian.tensor.Shape;

/** Runs an exported file in ONNX Runtime and its model in libtorch on the crops of the same images. */
final class ExportCheck {
    private static final long ALIGNMENT = 64;

    private final ModelFile.Stored stored;
    private final List<Path> files;
    private final Console console;
    private EngineDifference found = EngineDifference.none();
    private int images;

    /** @param files images to compare on; made-up ones where there are none */
    ExportCheck(ModelFile.Stored stored, List<Path> files, Console console) {
        this.stored = stored;
        this.files = files;
        this.console = console;
    }

    /** How much they differ. */
    EngineDifference found() {
        return found;
    }

    /** On what they were compared, in words. */
    String text() {
        return (files.isEmpty() ? images + " synthetic images" : images + " images") + ", " + found.crops() + " crops";
    }

    /** Whether all images could be read. */
    boolean complete() {
        return files.isEmpty() || images == files.size();
    }

    void run(Path file, int threads) throws IOException {
        int count = files.isEmpty() ? SyntheticImages.COUNT : files.size();
        try (OnnxEngine engine = OnnxEngine.open(file, threads);
                Progress progress = console.progress("checking", count)) {
            ImageReader reader = new ImageReader(ImageLimits.DEFAULT);
            Rendering rendering = new Rendering(
                    reader::read,
                    stored.card().crops().whole().testing(),
                    stored.card().preprocessing());
            List<Image> painted = files.isEmpty() ? SyntheticImages.all() : List.of();
            for (int i = 0; i < count; i++) {
                Optional<Image> image = files.isEmpty() ? Optional.of(painted.get(i)) : read(files.get(i), rendering);
                image.ifPresent(seen -> compare(engine, rendering, seen));
                progress.accept(i + 1);
            }
        }
    }

    private Optional<Image> read(Path file, Rendering rendering) {
        return switch (rendering.crops().seen(rendering.reader().apply(file))) {
            case ReadResult.Unreadable problem -> {
                console.warn("skipping " + file + ": " + problem.reason());
                yield Optional.empty();
            }
            case ReadResult.Readable(Image image, var _) -> Optional.of(image);
        };
    }

    private void compare(OnnxEngine engine, Rendering rendering, Image image) {
        int crops = rendering.crops().count();
        int size = rendering.crops().size();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(crops * rendering.bytes(), ALIGNMENT);
            rendering.write(image, "", memory); // test crops do not depend on a name
            Shape shape = Shape.of(crops, 3, size, size);
            found = found.and(EngineDifference.of(engine, Engine.of(stored.model()), memory, shape));
            images++;
        }
    }
}
