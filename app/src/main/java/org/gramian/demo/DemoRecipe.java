package org.gramian.demo;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.gramian.backbone.Backbone;
import org.gramian.basis.AtomicTextFile;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.protocol.Protocols;
import org.gramian.run.config.Settings;
import org.gramian.train.recipe.Schedule;

/**
 * Dataset and training options of the demo: two runs that differ in the pooling only.
 *
 * <p>The second pooling is that of the paper, with as many channels after the 1×1 convolution as the backbone has instead of 512:
 * more would be linearly dependent. Images, split, crops, epochs and schedule are the same for both.
 *
 * @param textures the images and the seed
 * @param pooling of the second run; the first is {@code average}
 * @param epochs of both
 * @param backbone of both: one that needs no weights or has weights in this program
 */
public record DemoRecipe(TextureSet textures, String pooling, int epochs, String backbone) {
    private static final String MARK = "demo.txt";

    /** Default backbone. */
    public static final String BACKBONE = "filters";

    /** Takes about a minute on two cores; confidence intervals of the accuracies are about ±5 points. */
    public static final DemoRecipe DEFAULT =
            new DemoRecipe(new TextureSet(80, 144, 0), "conv:same/rbf/spd:64/relu/triu/root/l2", 25);

    /** Few images make few steps: with batches of 32 the loss of both poolings was still falling fast at the last epoch. */
    private static final int BATCH = 8;

    /** Crop size relative to the image, as 224 of 256 pixels. */
    private static final double CROPPED = 224.0 / 256;

    /** One of the two runs: name of its folder, description and pooling as written in options. */
    public record Entry(String name, String meaning, String pooling) {}

    /** Creates a recipe with the default backbone. */
    public DemoRecipe(TextureSet textures, String pooling, int epochs) {
        this(textures, pooling, epochs, BACKBONE);
    }

    /** Returns a copy with another seed. */
    public DemoRecipe seeded(long seed) {
        return new DemoRecipe(new TextureSet(textures.images(), textures.side(), seed), pooling, epochs, backbone);
    }

    /** Returns a copy with another backbone. */
    public DemoRecipe with(String other) {
        return new DemoRecipe(textures, pooling, epochs, other);
    }

    /** Returns the first-order run, then the second-order run. */
    public List<Entry> entries() {
        return List.of(
                new Entry("average", "first order: the mean of every feature map", "average"),
                new Entry("second-order", "second order: the paper's SPD pooling of the feature maps", pooling));
    }

    /** Returns the configuration of a run. */
    public Settings settings(Entry entry) {
        boolean needed = Backbone.of(backbone).about().weights().needed();
        int side = (int) Math.round(textures.side() * CROPPED);
        return Settings.NONE
                .with("network.backbone", backbone)
                .with("network.weights", needed ? Optional.of(backbone) : Optional.<String>empty())
                .with("data.crops", new CropPlan(CropPlan.Kind.CENTER, side, false))
                .with("data.protocol", Protocols.parse("holdout:0.3"))
                .with("network.pooling", entry.pooling())
                .with("optimizer.batch", BATCH)
                .with("stage1.epochs", epochs)
                .with("stage1.schedule", new Schedule.Cosine())
                .with("seed", textures.seed());
    }

    /**
     * Opens a new or empty folder, or that of the same demo to resume it; {@value #MARK} identifies the demo. A folder with other
     * content is never changed.
     *
     * @throws IllegalArgumentException if the folder has other content
     */
    public void open(Path folder) throws IOException {
        String wanted =
                "gramian demo, version 1%nseed %d%nimages %d of each class, %d x %d%npooling %s on %s, %d epochs%n"
                        .formatted(
                                textures.seed(),
                                textures.images(),
                                textures.side(),
                                textures.side(),
                                pooling,
                                backbone,
                                epochs);
        Path mark = folder.resolve(MARK);
        if (Files.isRegularFile(mark)) {
            String found = Files.readString(mark, StandardCharsets.UTF_8);
            if (!found.equals(wanted)) {
                throw new IllegalArgumentException(
                        "%s: expected a new folder or the same demo, found another demo:%n%s%s"
                                .formatted(folder, found.indent(2), "choose another folder with --out"));
            }
        } else if (Files.exists(folder)) {
            requireEmpty(folder);
        }
        Files.createDirectories(folder);
        AtomicTextFile.write(mark, text -> text.write(wanted));
    }

    private static void requireEmpty(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            throw new IllegalArgumentException(
                    folder + ": expected a new folder or a demo, found a file; choose another folder with --out");
        }
        try (Stream<Path> content = Files.list(folder)) {
            if (content.findAny().isPresent()) {
                throw new IllegalArgumentException(folder + ": expected a new folder or a demo, found other files;"
                        + " nothing was changed; choose another folder with --out");
            }
        }
    }
}
