package org.gramian.run.config;

import java.util.Optional;
import java.util.OptionalDouble;
import org.gramian.backbone.Backbone;
import org.gramian.image.augment.Augmentation;
import org.gramian.image.crop.CropPlan;
import org.gramian.linear.LinearSolver;
import org.gramian.linear.Svm;
import org.gramian.pooling.Fidelity;
import org.gramian.pooling.Method;
import org.gramian.pooling.Methods;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.Device;
import org.gramian.train.loop.PoolingSelection;
import org.gramian.train.recipe.Recipe.Precision;
import org.gramian.train.recipe.Schedule;

/**
 * The recipe of a run without options, by situation: a comparison of poolings on frozen features, a classifier in closed form, the whole
 * image as one crop; on a GPU with enough images fine-tuning after it. docs/results.md has the measurements on FMD, dtd10 and
 * cars39 behind each choice.
 *
 * <p>It applies to the corrected fidelity. {@code fidelity=paper} and {@code fidelity=authors} keep their own recipes.
 */
final class DefaultRecipe {
    /** Image size of networks that were trained on larger images than 224. */
    private static final int LARGE = 320;

    /** Maximum number of images for a search over C. */
    private static final int SEARCHED_IMAGES = 5000;

    private static final double DEFAULT_COST = 10;

    private static final int EPOCHS = 20;
    private static final int BEST_EPOCHS = 40;

    /** Maximum number of images over all epochs: a million images take hours, not weeks. */
    private static final long MOST_SEEN = 400_000;

    private static final int FEWEST_EPOCHS = 5;

    /** Warm-up as a fraction of the epochs. */
    private static final double WARMUP = 0.08;

    private static final double SMOOTHING = 0.1;
    private static final double CLIP = 5;
    private static final double DROPOUT = 0.2;
    private static final double STRONG_MIXUP = 0.2;
    private static final double STRONG_CUTMIX = 1;
    static final int BATCH = 64;

    /** Ten batches per epoch. */
    static final int FEWEST_FOR_BATCH = 10 * BATCH;

    /** Epochs and schedule of the paper's second stage. */
    private static final int PAPER_EPOCHS = 10;

    private static final Schedule PAPER_SCHEDULE = new Schedule.Plateau(1, 2);

    /** Diverges at the full learning rate of SGD: 10 % on FMD, which is chance. */
    private static final String DELICATE = "efficientnet-lite4";

    private static final double DELICATE_RATE = 0.1;
    private static final double DELICATE_WARMUP = 1;

    static final String EPOCHS_RULE =
            EPOCHS + " on a GPU with at least " + Quality.FINE_TUNED_IMAGES + " images, else 0";
    static final String OPTIMIZER_RULE = "adamw if the backbone is fine-tuned, else sgd";
    static final String SCHEDULE_RULE = "cosine with adamw, else " + PAPER_SCHEDULE.text();
    static final String WARMUP_RULE = WARMUP + " times stage2.epochs with adamw; else 0, or 1 for " + DELICATE;
    static final String BACKBONE_RATE_RULE =
            UpdateRule.ADAMW_BACKBONE_RATE + " with adamw; else 1, or " + DELICATE_RATE + " for " + DELICATE;
    static final String SMOOTHING_RULE = SMOOTHING + " in fine-tuning with adamw, else 0";
    static final String CLIP_RULE = (int) CLIP + " in fine-tuning with adamw, else 0";
    static final String DROPOUT_RULE = DROPOUT + " in fine-tuning with adamw, else 0";
    static final String MIXUP_RULE = STRONG_MIXUP + " with data.augment=strong, else 0";
    static final String CUTMIX_RULE = (int) STRONG_CUTMIX + " with data.augment=strong, else 0";
    static final String AUGMENT_RULE = "none; standard to fine-tune with adamw";
    static final String PRECISION_RULE = "bf16 in fine-tuning with adamw on a GPU, else f32";
    static final String IMAGE_SIZE_RULE = "the size of data.crops; with adamw 0.7 times that for crops above 256";
    static final String POOLING_RULE = "auto; default if the head is trained by epochs";
    static final String REFIT_RULE = "svm if the head is trained by epochs with softmax, else none";
    static final String CROPS_RULE = "resize:224, or resize:" + LARGE + " for backbones pretrained on larger images";
    static final String VALIDATION_RULE = "0.1 if the head or all layers are trained by epochs, else 0";
    static final String LAYER_RULE = "the backbone's default layer; two layers with the pooling auto";

    private DefaultRecipe() {}

    private static boolean applies(Settings settings) {
        return settings.find(Keys.FIDELITY).orElse(Fidelity.CORRECTED) == Fidelity.CORRECTED;
    }

    /** Whether given options imply a head that is trained by epochs on frozen features. */
    private static boolean impliesStage1(Settings given) {
        return given.find(Keys.STAGE1_EPOCHS).orElse(0) > 0
                || given.has(Keys.STAGE1_RATE)
                || given.has(Keys.STAGE1_SCHEDULE)
                || given.find(Keys.LOGIT_NORM).orElse(false)
                || given.find(Keys.CLASSIFIER).filter(Optional::isEmpty).isPresent();
    }

    /** Fills an unset pooling. */
    static Settings pooling(Settings given) {
        if (!applies(given)) {
            return given;
        }
        return impliesStage1(given)
                ? given.orElse(Keys.POOLING, "default", "the head is trained by epochs")
                : given.orElse(
                        Keys.POOLING, PoolingSelection.AUTO, "selected by comparing poolings on the training images");
    }

    private static boolean isAuto(Settings settings) {
        return settings.find(Keys.POOLING).filter(PoolingSelection.AUTO::equals).isPresent();
    }

    /** Fills an unset layer, except with {@code auto}, where it depends on fine-tuning. */
    static Settings layer(Settings settings, Backbone backbone) {
        return isAuto(settings)
                ? settings
                : settings.orElse(Keys.LAYER, backbone.defaultLayer(), "the default layer of " + backbone.name());
    }

    /** Fills unset epochs of fine-tuning, and the layers of the pooling {@code auto}. */
    static Settings epochs(Settings given, Backbone backbone, DefaultsContext context) {
        boolean gpu = context.device() == Device.Kind.CUDA;
        Settings settings = epochs(given, backbone, context.images(), gpu);
        if (!isAuto(settings)) {
            return settings;
        }
        return settings.get(Keys.STAGE2_EPOCHS) > 0
                ? settings.orElse(Keys.LAYER, backbone.fineTunedLayers(), "the default layers for fine-tuning")
                : settings.orElse(Keys.LAYER, backbone.selectionLayers(), "the layers that the pooling auto compares");
    }

    /** Fills an unset classifier with an SVM if the pooling has nothing to train. */
    static Settings classifier(Settings settings, int images) {
        if (!applies(settings) || settings.has(Keys.CLASSIFIER) || impliesStage1(settings)) {
            return settings;
        }
        String text = settings.get(Keys.POOLING);
        Optional<LinearSolver> svm = svm(images);
        if (isAuto(settings)) {
            return settings.orElse(Keys.CLASSIFIER, svm, "solved in closed form on frozen features");
        }
        boolean own = Methods.find(text)
                .map(Method::classifier)
                .filter(word -> !word.equals(Method.SOFTMAX))
                .isPresent();
        return own || learns(text, NetworkConfig.backbone(settings))
                ? settings
                : settings.orElse(Keys.CLASSIFIER, svm, "the pooling has no trainable parameters");
    }

    /** Returns an SVM, with a search over C for few images: it takes five times as long. */
    private static Optional<LinearSolver> svm(long rows) {
        return Optional.of(new Svm(rows > SEARCHED_IMAGES ? OptionalDouble.of(DEFAULT_COST) : OptionalDouble.empty()));
    }

    /** Fills an unset refit: gradient descent seldom reaches the optimum of the classifier. */
    static Settings refit(Settings settings, int images) {
        String reason = !applies(settings)
                ? "as in the paper"
                : settings.get(Keys.CLASSIFIER).isPresent()
                        ? "the classifier is solved in closed form"
                        : settings.get(Keys.STAGE1_EPOCHS) == 0
                                ? "the head is not trained by epochs"
                                : settings.get(Keys.LOGIT_NORM) ? "network.logit-norm is true" : "";
        return reason.isEmpty()
                ? settings.orElse(
                        Keys.STAGE1_REFIT,
                        svm(StageLength.crops(settings, images)),
                        "gradient descent seldom reaches the optimum of the classifier")
                : settings.orElse(Keys.STAGE1_REFIT, Optional.empty(), reason);
    }

    /** Whether a pooling has trainable parameters. */
    private static boolean learns(String text, Backbone backbone) {
        try {
            Pooling pooling = Pooling.parse(text).resolve(backbone, Integer.MAX_VALUE);
            return pooling.hasTrainable(backbone.channels());
        } catch (IllegalArgumentException misfit) {
            return true; // RunConfig reports the conflict
        }
    }

    static Settings crops(Settings settings, Backbone backbone) {
        Quality quality = settings.find(Keys.QUALITY).orElse(Quality.BALANCED);
        int standard = backbone.about().size() > CropPlan.DEFAULT_SIZE && quality != Quality.FAST
                ? LARGE
                : CropPlan.DEFAULT_SIZE;
        int wanted = quality == Quality.BEST ? standard * 7 / 5 / 32 * 32 : standard;
        int size = backbone.fits(wanted, wanted) ? wanted : backbone.about().size();
        return settings.orElse(
                Keys.CROPS,
                new CropPlan(CropPlan.Kind.RESIZE, size, quality == Quality.BEST),
                "the whole image at a size for " + backbone.name());
    }

    /**
     * Fills unset options of fine-tuning: AdamW, cosine decay with warm-up, label smoothing, clipping, dropout, random resized crops smaller than test images.
     */
    static Settings fineTuning(Settings given, Backbone backbone, DefaultsContext context) {
        boolean gpu = context.device() == Device.Kind.CUDA;
        Settings settings = given;
        int epochs = settings.get(Keys.STAGE2_EPOCHS);
        boolean modern = applies(settings)
                && epochs > 0
                && settings.find(Keys.OPTIMIZER).orElse(UpdateRule.ADAMW) == UpdateRule.ADAMW;
        String tuned = "the backbone is fine-tuned";
        String plain = epochs == 0 ? "the backbone is frozen" : "as in the paper";
        String why = modern ? tuned : plain;
        boolean delicate = backbone.name().equals(DELICATE);
        String gently = delicate ? DELICATE + " diverges at the full learning rate of SGD" : plain;
        int size = settings.get(Keys.CROPS).size();
        int smaller = modern && size > 256 ? size * 7 / 10 / 32 * 32 : size;
        if (modern && context.images() >= FEWEST_FOR_BATCH) {
            settings = settings.orElse(Keys.BATCH, BATCH, tuned);
        }
        settings = settings.orElse(Keys.OPTIMIZER, modern ? UpdateRule.ADAMW : UpdateRule.SGD, why);
        if (settings.get(Keys.OPTIMIZER) == UpdateRule.ADAMW) {
            settings = settings.orElse(
                    Keys.BACKBONE_RATE,
                    UpdateRule.ADAMW_BACKBONE_RATE,
                    "pretrained weights need a smaller learning rate than new layers");
        }
        return settings.orElse(Keys.STAGE2_SCHEDULE, modern ? new Schedule.Cosine() : PAPER_SCHEDULE, why)
                .orElse(
                        Keys.STAGE2_WARMUP,
                        modern ? WARMUP * epochs : delicate ? DELICATE_WARMUP : 0,
                        modern ? tuned : gently)
                .orElse(Keys.BACKBONE_RATE, delicate ? DELICATE_RATE : 1, gently)
                .orElse(Keys.LABEL_SMOOTHING, modern ? SMOOTHING : 0, why)
                .orElse(Keys.CLIP, modern ? CLIP : 0, why)
                .orElse(Keys.DROPOUT, modern ? DROPOUT : 0, why)
                .orElse(Keys.AUGMENT, modern ? Augmentation.STANDARD : Augmentation.NONE, why)
                .orElse(Keys.PRECISION, modern && gpu ? Precision.BF16 : Precision.F32, why)
                .orElse(Keys.STAGE2_IMAGE_SIZE, backbone.fits(smaller, smaller) ? smaller : size, why);
    }

    private static Settings epochs(Settings settings, Backbone backbone, int images, boolean gpu) {
        if (backbone.parameterCount() == 0) {
            return settings.orElse(Keys.STAGE2_EPOCHS, 0, backbone.name() + " has no trainable parameters");
        }
        if (!gpu) {
            return settings.orElse(
                    Keys.STAGE2_EPOCHS, 0, "fine-tuning on a CPU takes hours; enable it with --fine-tune N");
        }
        if (!applies(settings)) {
            return settings.orElse(Keys.STAGE2_EPOCHS, PAPER_EPOCHS, "a GPU is available");
        }
        Quality quality = settings.find(Keys.QUALITY).orElse(Quality.BALANCED);
        if (quality == Quality.FAST || images < Quality.FINE_TUNED_IMAGES) {
            return settings.orElse(
                    Keys.STAGE2_EPOCHS,
                    0,
                    quality == Quality.FAST
                            ? "quality=fast"
                            : "frozen features are as accurate with fewer than " + Quality.FINE_TUNED_IMAGES
                                    + " images");
        }
        int most = quality == Quality.BEST ? BEST_EPOCHS : EPOCHS;
        int epochs = Math.clamp(MOST_SEEN / images, FEWEST_EPOCHS, most);
        return settings.orElse(Keys.STAGE2_EPOCHS, epochs, "a GPU is available for " + images + " images");
    }

    /** Fills an unset validation share: solvers calibrate by cross-validation and need no validation set. */
    static Settings validation(Settings settings) {
        boolean trains = settings.get(Keys.CLASSIFIER).isEmpty() || settings.get(Keys.STAGE2_EPOCHS) > 0;
        return settings.orElse(
                Keys.VALIDATION,
                trains ? 0.1 : 0.0,
                trains ? "to select the best epoch and to calibrate probabilities" : "nothing is trained by epochs");
    }

    /** Fills unset mixup and CutMix, which belong to the policy {@code strong}. */
    static Settings mixing(Settings settings) {
        boolean strong = settings.get(Keys.AUGMENT).equals(Augmentation.STRONG);
        String reason = strong ? "part of data.augment=strong" : "data.augment is not strong";
        return settings.orElse(Keys.MIXUP, strong ? STRONG_MIXUP : 0, reason)
                .orElse(Keys.CUTMIX, strong ? STRONG_CUTMIX : 0, reason);
    }
}
