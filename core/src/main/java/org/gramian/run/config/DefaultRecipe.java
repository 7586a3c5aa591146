package org.gramian.run.config;

import java.util.Optional;
import java.util.OptionalDouble;
import org.gramian.backbone.Backbone;
import org.gramian.image.crop.CropPlan;
import org.gramian.linear.LinearSolver;
import org.gramian.linear.Svm;
import org.gramian.pooling.Fidelity;
import org.gramian.pooling.Method;
import org.gramian.pooling.Methods;
import org.gramian.pooling.Pooling;
import org.gramian.train.loop.PoolingRace;

/**
 * The recipe of a run without options, by situation: a race of poolings on frozen features, a classifier in closed form, the whole
 * image as one crop; on a GPU with enough images fine-tuning after it. docs/results.md has the measurements on FMD, dtd10 and
 * cars39 behind each choice.
 *
 * <p>It applies to the corrected fidelity. {@code fidelity=paper} and {@code fidelity=authors} keep their own recipes.
 */
final class DefaultRecipe {
    /** Image size of networks that were trained on larger images than 224. */
    private static final int LARGE = 320;

    static final String POOLING_RULE = "auto; default where stage 1 is trained (--epochs, --lr or --classifier softmax)";
    static final String CROPS_RULE =
            "resize:224, or resize:" + LARGE + " for networks trained on larger images; twice that area with quality best";
    static final String VALIDATION_RULE = "0.1 where something is trained by epochs; 0 where nothing is";
    static final String LAYER_RULE = "the network's usual layer; two layers for the pooling auto";

    private DefaultRecipe() {}

    private static boolean applies(Settings settings) {
        return settings.find(Keys.FIDELITY).orElse(Fidelity.CORRECTED) == Fidelity.CORRECTED;
    }

    /** Whether settings ask for a head that is trained by epochs on frozen features. */
    private static boolean asksForStage1(Settings asked) {
        return asked.find(Keys.STAGE1_EPOCHS).orElse(0) > 0
                || asked.has(Keys.STAGE1_RATE)
                || asked.has(Keys.STAGE1_SCHEDULE)
                || asked.find(Keys.LOGIT_NORM).orElse(false)
                || asked.find(Keys.CLASSIFIER).filter(Optional::isEmpty).isPresent();
    }

    /** The pooling, which decides about the layer. */
    static Settings pooling(Settings asked) {
        if (!applies(asked)) {
            return asked;
        }
        return asksForStage1(asked)
                ? asked.orElse(Keys.POOLING, "default", "stage 1 is trained")
                : asked.orElse(Keys.POOLING, PoolingRace.AUTO, "a race on the training images chooses it");
    }

    static Settings layer(Settings settings, Backbone backbone) {
        return settings.find(Keys.POOLING).filter(PoolingRace.AUTO::equals).isPresent()
                ? settings.orElse(Keys.LAYER, backbone.raceLayers(), "layers for the pooling auto")
                : settings.orElse(Keys.LAYER, backbone.defaultLayer(), "the usual layer of " + backbone.name());
    }

    /** A classifier in closed form where nothing before it is trained: its optimum is found within seconds. */
    static Settings classifier(Settings settings, Backbone backbone) {
        if (!applies(settings) || settings.has(Keys.CLASSIFIER) || asksForStage1(settings)) {
            return settings;
        }
        String text = settings.get(Keys.POOLING);
        Optional<LinearSolver> svm = Optional.of(new Svm(OptionalDouble.empty()));
        if (text.equals(PoolingRace.AUTO)) {
            return settings.orElse(Keys.CLASSIFIER, svm, "solved in closed form on frozen features");
        }
        boolean own = Methods.find(text)
                .map(Method::classifier)
                .filter(word -> !word.equals(Method.SOFTMAX))
                .isPresent();
        return own || learns(text, backbone)
                ? settings
                : settings.orElse(Keys.CLASSIFIER, svm, "the pooling has nothing to train");
    }

    /** Whether a pooling has parameters that only training gives a good value. */
    private static boolean learns(String text, Backbone backbone) {
        try {
            Pooling pooling = Pooling.parse(text).settled(backbone, Integer.MAX_VALUE);
            return pooling.hasTrainable(backbone.channels());
        } catch (IllegalArgumentException misfit) {
            return true; // said where the configuration is checked as a whole
        }
    }

    static Settings crops(Settings settings, Backbone backbone, Quality quality) {
        int usual = backbone.about().size() > CropPlan.DEFAULT_SIZE && quality != Quality.FAST
                ? LARGE
                : CropPlan.DEFAULT_SIZE;
        int size = quality == Quality.BEST ? usual * 7 / 5 / 32 * 32 : usual;
        return settings.orElse(
                Keys.CROPS,
                new CropPlan(CropPlan.Kind.RESIZE, size, quality == Quality.BEST),
                "the whole image at a size that suits " + backbone.name());
    }

    /** Solved classifiers are calibrated by cross-validation and need no validation set. */
    static Settings validation(Settings settings) {
        boolean trains = settings.get(Keys.CLASSIFIER).isEmpty() || settings.get(Keys.STAGE2_EPOCHS) > 0;
        return settings.orElse(
                Keys.VALIDATION,
                trains ? 0.1 : 0.0,
                trains ? "judges epochs and calibrates" : "nothing is trained by epochs");
    }
}
