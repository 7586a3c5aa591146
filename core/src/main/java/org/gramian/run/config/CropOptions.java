package org.gramian.run.config;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;
import org.gramian.image.crop.CropPlan;
import org.gramian.pooling.Fidelity;
import org.jspecify.annotations.Nullable;

/**
 * Short options for crops, which stand for values of {@link Keys#CROPS} and {@link Keys#TEST_CROPS}.
 *
 * @param imageSize {@code --image-size}: side of all crops in pixels
 * @param testSize {@code --test-size}: side of the crops of validation, test and prediction
 * @param tta {@code --tta}, test-time augmentation: {@code none}, {@code flips}, {@code five} or {@code ten}
 */
public record CropOptions(
        @Nullable String imageSize,
        @Nullable String testSize,
        @Nullable String tta) {
    /** Words of {@code --tta}. */
    public static final List<String> TTA = List.of("none", "flips", "five", "ten");

    private static final KeyOption IMAGE_SIZE = KeyOption.Group.DATA
            .option(40, "--image-size N", "image size: side of all crops in pixels, e.g. 320")
            .alias("--img-size", "--imgsz")
            .onSpark();
    private static final KeyOption TEST_SIZE = KeyOption.Group.DATA
            .option(50, "--test-size N", "image size for validation, test and prediction")
            .onSpark("image size for validation and prediction");
    private static final KeyOption TEST_AUGMENTATION = KeyOption.Group.DATA
            .option(60, "--tta WORD", "test-time augmentation: none, flips, five or ten crops")
            .onSpark();

    /** The options as part of the table of {@link Keys#options}. */
    static final List<KeyOption> OPTIONS = List.of(IMAGE_SIZE, TEST_SIZE, TEST_AUGMENTATION);

    private static final Form<Integer> SIZE = Form.whole(1);

    /**
     * Selects these options from all given ones.
     *
     * @param typed text of each given option, by its name
     */
    public static CropOptions of(Map<String, String> typed) {
        return new CropOptions(
                typed.get(IMAGE_SIZE.name()), typed.get(TEST_SIZE.name()), typed.get(TEST_AUGMENTATION.name()));
    }

    /**
     * Applies the options to settings: a size replaces that of the set or default crops.
     *
     * @throws ConfigException naming the option, if a value is invalid
     */
    public Settings applyTo(Settings given) {
        if (imageSize == null && testSize == null && tta == null) {
            return given;
        }
        if (tta != null) {
            augmented(new CropPlan(CropPlan.Kind.CENTER, CropPlan.DEFAULT_SIZE, false), tta); // rejects an unknown word
        }
        Settings settings = given;
        CropPlan crops = settings.find(Keys.CROPS).orElseGet(() -> defaultCrops(given));
        if (imageSize != null) {
            crops = resized(crops, imageSize, IMAGE_SIZE.name());
            settings = settings.with(Keys.CROPS.name(), crops.text(), Origin.flag(IMAGE_SIZE.name()));
        }
        if (testSize == null && tta == null) {
            return settings;
        }
        CropPlan test = settings.find(Keys.TEST_CROPS).flatMap(plan -> plan).orElse(crops);
        if (tta != null) {
            test = augmented(test, tta);
        }
        if (testSize != null) {
            test = resized(test, testSize, TEST_SIZE.name());
        }
        String option = (testSize == null ? TEST_AUGMENTATION : TEST_SIZE).name();
        return settings.with(Keys.TEST_CROPS.name(), test.text(), Origin.flag(option));
    }

    /** Returns the default crops for the fidelity and the backbone that are set. */
    private CropPlan defaultCrops(Settings given) {
        if (given.find(Keys.FIDELITY).orElse(Fidelity.CORRECTED) != Fidelity.CORRECTED) {
            return CropPlan.parse("paper");
        }
        if (imageSize == null && testSize == null && !given.has(Keys.BACKBONE)) {
            throw new ConfigException("--tta: expected --image-size, --crops or --backbone as well, to know the size"
                    + " of images; found none of them");
        }
        return given.find(Keys.BACKBONE)
                .map(name ->
                        DefaultRecipe.crops(given, NetworkConfig.backbone(name)).get(Keys.CROPS))
                .orElseGet(() -> new CropPlan(CropPlan.Kind.RESIZE, CropPlan.DEFAULT_SIZE, false));
    }

    private static CropPlan resized(CropPlan plan, String size, String option) {
        try {
            return plan.withSize(SIZE.read(size));
        } catch (IllegalArgumentException e) {
            throw new ConfigException(option + ": " + e.getMessage(), e);
        }
    }

    private static CropPlan augmented(CropPlan plan, String text) {
        String word = text.strip().toLowerCase(Locale.ROOT);
        CropPlan.Kind single = plan.kind() == CropPlan.Kind.RESIZE ? CropPlan.Kind.RESIZE : CropPlan.Kind.CENTER;
        return switch (word) {
            case "none" -> new CropPlan(single, plan.size(), false, plan.boxed());
            case "flips" -> new CropPlan(single, plan.size(), true, plan.boxed());
            case "five" -> new CropPlan(CropPlan.Kind.PAPER, plan.size(), false, plan.boxed());
            case "ten" -> new CropPlan(CropPlan.Kind.TEN, plan.size(), false, plan.boxed());
            default ->
                throw new ConfigException("--tta: expected one of " + String.join(", ", TTA) + ", found "
                        + QuotedText.text(text) + NearestWord.suggestion(word, TTA));
        };
    }
}
