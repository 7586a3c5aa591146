package org.gramian.cli;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.gramian.export.Agreement;
import org.gramian.export.OnnxEngine;
import org.gramian.image.Picture;
import org.gramian.image.PictureLimits;
import org.gramian.image.PictureReader;
import org.gramian.image.Reading;
import org.gramian.image.batch.Rendering;
import org.gramian.model.Engine;
import org.gramian.model.ModelFile;
import org.gramian.tensor.Shape;

/** Runs an exported file in ONNX Runtime and its model in libtorch on the crops of the same pictures. */
final class ExportCheck {
    private static final long ALIGNMENT = 64;

    private final ModelFile.Stored stored;
    private final List<Path> files;
    private final Console console;
    private Agreement found = Agreement.none();
    private int pictures;

    /** @param files pictures to compare on; made-up ones where there are none */
    ExportCheck(ModelFile.Stored stored, List<Path> files, Console console) {
        this.stored = stored;
        this.files = files;
        this.console = console;
    }

    /** How much they differ. */
    Agreement found() {
        return found;
    }

    /** On what they were compared, in words. */
    String text() {
        return (files.isEmpty() ? pictures + " synthetic images" : pictures + " images") + ", " + found.crops()
                + " crops";
    }

    /** Whether all pictures could be read. */
    boolean complete() {
        return files.isEmpty() || pictures == files.size();
    }

    void run(Path file, int threads) throws IOException {
        int count = files.isEmpty() ? MadeUpPictures.COUNT : files.size();
        try (OnnxEngine engine = OnnxEngine.open(file, threads);
                Progress progress = console.progress("checking", count)) {
            PictureReader reader = new PictureReader(PictureLimits.DEFAULT);
            Rendering rendering = new Rendering(
                    reader::read,
                    stored.card().crops().whole().testing(),
                    stored.card().preprocessing());
            List<Picture> painted = files.isEmpty() ? MadeUpPictures.all() : List.of();
            for (int i = 0; i < count; i++) {
                Optional<Picture> picture =
                        files.isEmpty() ? Optional.of(painted.get(i)) : read(files.get(i), rendering);
                picture.ifPresent(seen -> compare(engine, rendering, seen));
                progress.accept(i + 1);
            }
        }
    }

    private Optional<Picture> read(Path file, Rendering rendering) {
        return switch (rendering.crops().seen(rendering.reader().apply(file))) {
            case Reading.Unreadable problem -> {
                console.warn("skipping " + file + ": " + problem.reason());
                yield Optional.empty();
            }
            case Reading.Readable(Picture picture, var _) -> Optional.of(picture);
        };
    }

    private void compare(OnnxEngine engine, Rendering rendering, Picture picture) {
        int crops = rendering.crops().count();
        int size = rendering.crops().size();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(crops * rendering.bytes(), ALIGNMENT);
            rendering.write(picture, "", memory); // test crops do not depend on a name
            Shape shape = Shape.of(crops, 3, size, size);
            found = found.and(Agreement.of(engine, Engine.of(stored.model()), memory, shape));
            pictures++;
        }
    }
}
