package org.gramian.demo;

import java.util.List;
import java.util.Optional;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.protocol.Protocols;
import org.gramian.run.config.Keys;
import org.gramian.run.config.Settings;
import org.gramian.train.recipe.Schedule;

/**
 * What the demo draws and trains: two runs that differ in the pooling alone.
 *
 * <p>The second pooling is the paper's, with as many channels after the 1×1 convolution as the filter bank has, 120, instead of
 * 512: more would be copies that cost time. Everything else is the same for both: images, division, crops, epochs and schedule.
 *
 * @param textures the images, with the seed of everything
 * @param pooling of the second run; the first is {@code average}
 * @param epochs of both
 */
public record DemoRecipe(TextureSet textures, String pooling, int epochs) {
    /** What two cores do in about a minute; the intervals of accuracies are some five points either way. */
    public static final DemoRecipe DEFAULT =
            new DemoRecipe(new TextureSet(80, 144, 0), "conv:same/rbf/spd:64/relu/triu/root/l2", 25);

    /** Few images make few steps: in batches of 32 both poolings were still learning fast when their epochs were over. */
    private static final int BATCH = 8;

    /** Crops leave this share of an image's side, as 224 of 256 pixels do. */
    private static final double CROPPED = 224.0 / 256;

    /**
     * One of the two runs.
     *
     * @param name of its folder
     * @param meaning in words
     * @param pooling as people write it
     */
    public record Entry(String name, String meaning, String pooling) {}

    /** The same for other images. */
    public DemoRecipe seeded(long seed) {
        return new DemoRecipe(new TextureSet(textures.images(), textures.side(), seed), pooling, epochs);
    }

    /** First order, then second. */
    public List<Entry> entries() {
        return List.of(
                new Entry("average", "first order: the mean of every feature map", "average"),
                new Entry("second-order", "second order: the paper's SPD pooling of the feature maps", pooling));
    }

    /** The configuration of a run. */
    public Settings settings(Entry entry) {
        int side = (int) Math.round(textures.side() * CROPPED);
        return Settings.NONE
                .with(Keys.BACKBONE, "filters")
                .with(Keys.WEIGHTS, Optional.<String>empty())
                .with(Keys.CROPS, new CropPlan(CropPlan.Kind.CENTER, side, false))
                .with(Keys.PROTOCOL, Protocols.parse("holdout:0.3"))
                .with(Keys.POOLING, entry.pooling())
                .with(Keys.BATCH, BATCH)
                .with(Keys.STAGE1_EPOCHS, epochs)
                .with(Keys.STAGE1_SCHEDULE, new Schedule.Cosine())
                .with(Keys.SEED, textures.seed());
    }
}
