package org.gramian.serve;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.imageio.ImageIO;
import org.gramian.cli.TinyModel;
import org.gramian.gallery.GalleryBuilder;
import org.gramian.gallery.Item;
import org.gramian.gallery.Part;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ModelFile;
import org.gramian.tensor.Device;

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
        Classifier classifier = model.classifier();
        ReadResult reading = classifier.read(ImageSource.of("png", Served.png(seed)));
        float[] crops = classifier.render(((ReadResult.Readable) reading).image());
        return classifier
                .compute(List.of(crops), Set.of(Engine.Rows.DESCRIPTORS))
                .getFirst()
                .of(Engine.Rows.DESCRIPTORS);
    }

    private static byte[] thumbnail() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ImageIO.write(new BufferedImage(8, 8, BufferedImage.TYPE_INT_RGB), "jpg", out);
        return out.toByteArray();
    }
}
