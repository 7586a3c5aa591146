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
 * Short options for crops, which stand for values of {@code data.crops} and {@code data.test-crops}.
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

    private static final ConfigKey.Option IMAGE_SIZE =
            option("--image-size --img-size --imgsz N", "image size: side of all crops in pixels, e.g. 320");
    private static final ConfigKey.Option TEST_SIZE =
            option("--test-size N", "image size for validation, test and prediction");
    private static final ConfigKey.Option TEST_AUGMENTATION =
            option("--tta WORD", "test-time augmentation: none, flips, five or ten crops");

    /** The options as part of {@link ConfigKey#options}. */
    static final List<ConfigKey.Option> OPTIONS = List.of(IMAGE_SIZE, TEST_SIZE, TEST_AUGMENTATION);

    private static ConfigKey.Option option(String usage, String help) {
        return ConfigKey.Option.of("data", usage, help, true, "");
    }

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
        CropPlan crops = settings.find(TrainConfig::crops).orElseGet(() -> defaultCrops(given));
        if (imageSize != null) {
            crops = resized(crops, imageSize, IMAGE_SIZE.name());
            settings = settings.with("data.crops", crops, IMAGE_SIZE.name());
        }
        if (testSize == null && tta == null) {
            return settings;
        }
        CropPlan test =
                settings.find(TrainConfig::testCrops).flatMap(plan -> plan).orElse(crops);
        if (tta != null) {
            test = augmented(test, tta);
        }
        if (testSize != null) {
            test = resized(test, testSize, TEST_SIZE.name());
        }
        String option = (testSize == null ? TEST_AUGMENTATION : TEST_SIZE).name();
        return settings.with("data.test-crops", test.text(), option);
    }

    /** Returns the default crops for the fidelity and the backbone that are set. */
    private CropPlan defaultCrops(Settings given) {
        if (given.find(TrainConfig::fidelity).orElse(Fidelity.CORRECTED) != Fidelity.CORRECTED) {
            return CropPlan.parse("paper");
        }
        if (imageSize == null && testSize == null && !given.has("network.backbone")) {
            throw new ConfigException("--tta: expected --image-size, --crops or --backbone as well, to know the size"
                    + " of images; found none of them");
        }
        return given.find(TrainConfig::backbone)
                .map(name -> DefaultResolver.crops(given, NetworkConfig.backbone(name)))
                .orElseGet(() -> new CropPlan(CropPlan.Kind.RESIZE, CropPlan.DEFAULT_SIZE, false));
    }

    private static CropPlan resized(CropPlan plan, String size, String option) {
        try {
            return plan.withSize((Integer) ConfigKey.of("stage2.image-size").parse(size));
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
