package org.gramian.serve;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Optional;
import javax.imageio.ImageIO;
import org.gramian.cli.TinyModel;
import org.gramian.gallery.GalleryBuilder;
import org.gramian.gallery.Item;
import org.gramian.gallery.Part;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.ReadResult;
import org.gramian.image.batch.Rendering;
import org.gramian.model.Engine;
import org.gramian.model.ModelFile;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;

/** A tiny model that knows the five images that {@link Served#png} makes of the seeds 1 to 5. */
final class ModelWithGallery {
    private ModelWithGallery() {}

    static LoadedModel load(Path folder) throws IOException {
        ModelFile.Stored stored =
                ModelFile.read(TinyModel.write(folder.resolve("model.safetensors"), "center:32"), Device.CPU);
        LoadedModel plain = LoadedModel.of("tiny", stored);
        GalleryBuilder gallery =
                new GalleryBuilder(TinyModel.CLASSES, plain.header().descriptorSize(), "0".repeat(64));
        for (int i = 1; i <= 5; i++) {
            gallery.add(new Item("paper/" + i + ".png", 0, Part.TRAINING), thumbnail(), describe(plain, i));
        }
        return LoadedModel.of("tiny", stored, Optional.of(gallery.build()));
    }

    private static float[][] describe(LoadedModel model, int seed) {
        Rendering rendering = model.rendering();
        int size = rendering.crops().size();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(rendering.bytes(), 64);
            ReadResult reading = new ImageReader(ImageLimits.DEFAULT).read(Served.png(seed));
            rendering.write(((ReadResult.Readable) reading).image(), "", memory);
            return model.computing().engine().compute(memory, Shape.of(1, 3, size, size), Engine.Rows.DESCRIPTORS);
        }
    }

    private static byte[] thumbnail() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ImageIO.write(new BufferedImage(8, 8, BufferedImage.TYPE_INT_RGB), "jpg", out);
        return out.toByteArray();
    }
}
