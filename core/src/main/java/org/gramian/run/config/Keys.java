package org.gramian.run.config;

import static org.gramian.run.config.Key.chosen;
import static org.gramian.run.config.Key.fixed;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.gramian.backbone.Backbone;
import org.gramian.image.augment.Augmentation;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.image.dataset.protocol.Protocols;
import org.gramian.linear.LinearSolver;
import org.gramian.pooling.Fidelity;
import org.gramian.spd.Retraction;
import org.gramian.spd.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.train.AdamWOptions;
import org.gramian.train.SgdOptions;
import org.gramian.train.StiefelOptions;
import org.gramian.train.loop.LearningRateFinder;
import org.gramian.train.loop.PoolingRace;
import org.gramian.train.recipe.LossRecipe.ClassWeights;
import org.gramian.train.recipe.Recipe.Precision;
import org.gramian.train.recipe.Schedule;

/**
 * The table of all that can be configured in a training run: names, meanings, and what holds where nobody says otherwise,
 * each with its reason. The YAML file, the options and the help of the command line are made from it.
 */
public final class Keys {
    private static final SgdOptions SGD = SgdOptions.defaults(0);
    private static final AdamWOptions ADAMW = AdamWOptions.defaults(0);
    private static final StiefelOptions STIEFEL = StiefelOptions.defaults();

    private static final double STRONG_MIXUP = 0.2;
    private static final double STRONG_CUTMIX = 1;
    private static final String MIXUP_RULE = STRONG_MIXUP + " with data.augment=strong, otherwise 0";
    private static final String CUTMIX_RULE = (int) STRONG_CUTMIX + " with data.augment=strong, otherwise 0";

    private static final Form<Double> NUMBER = Form.number();
    private static final Form<Double> ALPHA = Form.below(1000);
    private static final Form<OptionalDouble> RATE = Form.numberOr(LearningRateFinder.AUTO);
    private static final Form<Integer> EPOCHS = Form.whole(0);
    private static final Form<Schedule> SCHEDULES = Form.of("SCHEDULE", Schedule::parse, Schedule::text);

    public static final Key<String> LAYOUT = chosen(
            "data.layout",
            "how the images lie on disk",
            Form.of("LAYOUT", Keys::layout, text -> text),
            "what the folder shows");

    public static final Key<Protocol> PROTOCOL = chosen(
            "data.protocol",
            "who trains and who tests, as holdout:0.2 or thirds:3",
            Form.of("PROTOCOL", Protocols::parse, Protocol::text),
            "the usual one of the data set, holdout:0.2 for images of one's own");

    /** The whole image, once: a centre crop hides a quarter of it, the 15 crops of the paper cost 15 times as much. */
    public static final Key<CropPlan> CROPS = chosen(
            "data.crops",
            "crops of an image, as resize:320 (the whole image), center:224+flips or paper",
            Form.of("CROPS", CropPlan::parse, CropPlan::text),
            DefaultRecipe.CROPS_RULE);

    /** None: a run follows the crop plan alone. */
    public static final Key<Augmentation> AUGMENT = chosen(
            "data.augment",
            "augmentation of training images in stage 2, as standard or light+erase:0.25",
            Form.of(
                    String.join("|", Augmentation.names()) + "[+PART:VALUE]...",
                    Augmentation::parse,
                    Augmentation::text),
            DefaultRecipe.AUGMENT_RULE);

    /** The test crops of {@link #CROPS}: a model is tested as it was trained. A larger size often gains accuracy. */
    public static final Key<Optional<CropPlan>> TEST_CROPS = fixed(
            "data.test-crops",
            "crops of validation, test and prediction, as resize:288+flips; same: the test crops of data.crops",
            Form.of(
                    "CROPS|same",
                    Keys::testCrops,
                    plan -> plan.map(CropPlan::text).orElse("same")),
            Optional.empty());

    /** A tenth: fewer pictures could not tell epochs apart, more are missed in training. */
    public static final Key<Double> VALIDATION = chosen(
            "data.validation",
            "share of the training images in the validation set, if the protocol has none; 0: no validation set",
            Form.below(1),
            DefaultRecipe.VALIDATION_RULE);

    /** Kept on one side: a test image that almost equals a training image makes the accuracy too good. */
    public static final Key<Boolean> NEAR_DUPLICATES = chosen(
            "data.near-duplicates",
            "near-duplicates in random splits: on one side of a split (together), or like other images (ignore)",
            Form.word(List.of(true, false), together -> together ? "together" : "ignore"),
            "together; ignore with fidelity paper or authors");

    /**
     * Singles: halves overflow in networks without normalization, and their rounding would enter every result. On FMD they
     * changed no accuracy beyond noise and took half the disk; they are for folders whose features do not fit otherwise.
     */
    public static final Key<DType> FEATURE_TYPE = fixed(
            "data.feature-type",
            "precision in which features are kept",
            Form.word(List.of(DType.F32, DType.F16), type -> type == DType.F32 ? "f32" : "f16"),
            DType.F32);

    public static final Key<String> BACKBONE = chosen(
            "network.backbone",
            "the network that sees the images",
            Form.of("NAME", name -> Backbone.of(name).name(), name -> name),
            "the best whose weights are at hand; filters if there are none");

    public static final Key<String> LAYER = chosen(
            "network.layer",
            "where it is cut; a+b stacks the maps of two layers",
            Form.name("LAYER"),
            DefaultRecipe.LAYER_RULE);

    public static final Key<Optional<String>> WEIGHTS = chosen(
            "network.weights",
            "a name of 'gramian weights list' or a file; none where the network needs none",
            Form.of("FILE", Keys::weights, weights -> weights.orElse("none")),
            "those of the network's name");

    /**
     * {@link org.gramian.pooling.Methods} says why. A text and no pooling yet: what it leaves out is decided by {@link
     * #FIDELITY}, see {@link FaithfulPooling}.
     */
    public static final Key<String> POOLING = chosen(
            "network.pooling",
            "features to descriptor: auto (a race on training images chooses), a method, or stages joined by '/'",
            Form.of("SPEC", Keys::pooling, text -> text),
            DefaultRecipe.POOLING_RULE);

    /** A method that was published with another classifier is that method only with it; all others are trained. */
    public static final Key<Optional<LinearSolver>> CLASSIFIER = chosen(
            "network.classifier",
            "softmax, trained, or solved for: svm[:C=NUMBER], logistic[:C=NUMBER], mean, lda[:shrinkage=NUMBER]",
            ClassifierChoice.FORM,
            ClassifierChoice.RULE);

    /** None, as in the paper; only the authors' code has it. */
    public static final Key<Boolean> LOGIT_NORM =
            fixed("network.logit-norm", "batch normalization of the scores", Form.truth(), false);

    public static final Key<Double> DROPOUT = chosen(
            "network.dropout",
            "share of descriptor elements set to 0 in each training step (dropout before the classifier)",
            Form.below(1),
            DefaultRecipe.DROPOUT_RULE);

    public static final Key<Integer> STAGE1_EPOCHS = chosen(
            "stage1.epochs",
            "most epochs of the new layers on the frozen network; 0 leaves them out",
            EPOCHS,
            StageLength.EPOCHS_RULE);

    /** Empty: a range test finds it. */
    public static final Key<OptionalDouble> STAGE1_RATE =
            chosen("stage1.rate", "learning rate of the new layers; auto: a range test finds it", RATE, HeadRate.RULE);

    public static final Key<Boolean> PER_LENGTH = chosen(
            "stage1.per-length",
            "whether the classifier's is divided by the squared length of the first descriptors about their mean",
            Form.truth(),
            HeadRate.PER_LENGTH_RULE);

    /** A plateau ends a run that learns nothing more, so the number of epochs is only a bound then. */
    public static final Key<Schedule> STAGE1_SCHEDULE = chosen(
            "stage1.schedule",
            "constant, steps:6,7, cosine or plateau[:PATIENCE[,DROPS]]",
            SCHEDULES,
            StageLength.SCHEDULE_RULE);

    /** None: the new layers start small, and nothing learned can be lost. */
    public static final Key<Double> STAGE1_WARMUP =
            fixed("stage1.warmup", "epochs in which the rate rises from 0", NUMBER, 0.0);

    /** Given epochs are kept to; a rate that falls by the number of epochs is 0 at their end. */
    public static final Key<Boolean> STAGE1_EXTEND = chosen(
            "stage1.extend",
            "whether constant and plateau go on, up to twice the epochs, while the validation loss still falls",
            Form.truth(),
            StageLength.EXTEND_RULE);

    /** Gradient steps come near the optimum of the classifier and seldom reach it; a solver reaches it within seconds. */
    public static final Key<Optional<LinearSolver>> STAGE1_REFIT = chosen(
            "stage1.refit",
            "solver of the classifier after the last epoch, kept if it makes no more validation errors; none",
            ClassifierChoice.REFIT_FORM,
            DefaultRecipe.REFIT_RULE);

    public static final Key<Integer> STAGE2_EPOCHS =
            chosen("stage2.epochs", "most epochs of all layers together", EPOCHS, DefaultRecipe.EPOCHS_RULE);

    /** The paper's for SGD; {@link UpdateRule} has that of AdamW. Empty: a range test finds it. */
    public static final Key<OptionalDouble> STAGE2_RATE = chosen(
            "stage2.rate", "learning rate in stage 2; auto: a range test finds it", RATE, UpdateRule.STAGE2_RATE_RULE);

    public static final Key<Double> BACKBONE_RATE = chosen(
            "stage2.backbone-rate", "factor on that rate for the network", NUMBER, DefaultRecipe.BACKBONE_RATE_RULE);

    /** None: it pays where the backbone is deep and the images are few, which no measurement here shows yet. */
    public static final Key<Double> LAYER_DECAY = fixed(
            "stage2.layer-decay",
            "factor on the backbone's learning rate per stage of the network, counted from the cut; 1: none",
            Form.share(),
            1.0);

    /** On plateau as in the paper; with a patience of one epoch, for an epoch of all layers costs much and gains little. */
    public static final Key<Schedule> STAGE2_SCHEDULE =
            chosen("stage2.schedule", "how the rate falls, as in stage 1", SCHEDULES, DefaultRecipe.SCHEDULE_RULE);

    public static final Key<Double> STAGE2_WARMUP =
            chosen("stage2.warmup", "epochs in which the rate rises from 0", NUMBER, DefaultRecipe.WARMUP_RULE);

    public static final Key<Boolean> STAGE2_EXTEND = chosen(
            "stage2.extend",
            "whether it goes on while the validation loss still falls, as in stage 1",
            Form.truth(),
            StageLength.EXTEND_RULE);

    /** Smaller than test images: a random crop shows objects larger, and the time of an epoch falls with the area. */
    public static final Key<Integer> STAGE2_IMAGE_SIZE = chosen(
            "stage2.image-size",
            "side of augmented training crops in fine-tuning, in pixels",
            Form.whole(1),
            DefaultRecipe.IMAGE_SIZE_RULE);

    public static final Key<Integer> BATCH = chosen("optimizer.batch", "crops at once", Form.whole(1), BatchSize.RULE);

    /** One batch makes a step, as in the paper; more stand for a larger batch where memory is short. */
    public static final Key<Integer> ACCUMULATE =
            fixed("optimizer.accumulate", "batches whose gradients make one step", Form.whole(1), 1);

    /** SGD, as in the paper. */
    public static final Key<UpdateRule> OPTIMIZER = chosen(
            "optimizer.name",
            "sgd with momentum, or adamw (Riemannian Adam on the Stiefel manifold)",
            Form.constant(UpdateRule.class),
            DefaultRecipe.OPTIMIZER_RULE);

    /** {@link SgdOptions#defaults} says why. */
    public static final Key<Double> MOMENTUM =
            fixed("optimizer.momentum", "share of the last step that goes on", Form.below(1), SGD.momentum());

    /** {@link AdamWOptions#defaults} says why. */
    public static final Key<Double> BETA1 =
            fixed("optimizer.beta1", "decay of the first moment of adamw", Form.below(1), ADAMW.beta1());

    /** {@link AdamWOptions#defaults} says why. */
    public static final Key<Double> BETA2 =
            fixed("optimizer.beta2", "decay of the second moment of adamw", Form.below(1), ADAMW.beta2());

    public static final Key<Double> WEIGHT_DECAY =
            chosen("optimizer.weight-decay", "weight decay", NUMBER, UpdateRule.WEIGHT_DECAY_RULE);

    /** None, as in the paper. */
    public static final Key<Double> CLIP = chosen(
            "optimizer.clip",
            "largest norm of the gradient over all parameters; 0: no clipping",
            NUMBER,
            DefaultRecipe.CLIP_RULE);

    /** None: an average over many steps lags behind in short runs. */
    public static final Key<Double> EMA = fixed(
            "optimizer.ema",
            "decay of the moving average of weights, which validation and the model use; 0: none",
            Form.below(1),
            0.0);

    /** None: the paper has none, and it makes probabilities too timid. */
    public static final Key<Double> LABEL_SMOOTHING = chosen(
            "optimizer.label-smoothing",
            "share of a label spread over all classes",
            Form.below(1),
            DefaultRecipe.SMOOTHING_RULE);

    /** None: accuracy counts every picture the same, and most data sets here are balanced. */
    public static final Key<ClassWeights> CLASS_WEIGHTS = fixed(
            "optimizer.class-weights",
            "balanced: every class counts the same, however many images it has",
            Form.constant(ClassWeights.class),
            ClassWeights.NONE);

    public static final Key<Double> MIXUP = chosen(
            "optimizer.mixup",
            "alpha of mixup in stage 2: images and labels are blended by a share from Beta(alpha, alpha); 0: off",
            ALPHA,
            MIXUP_RULE);

    public static final Key<Double> CUTMIX = chosen(
            "optimizer.cutmix",
            "alpha of CutMix in stage 2: a rectangle is pasted from another image of the batch; 0: off",
            ALPHA,
            CUTMIX_RULE);

    /**
     * Single precision, the same on every device. On an H200, GoogLeNet at batches of 32 learned 1,750 crops a second in stage 2 so,
     * 3,230 in bf16, with the same accuracy on FMD; tf32 moves stage 1, too (docs/performance.md).
     */
    public static final Key<Precision> PRECISION = chosen(
            "optimizer.precision",
            "of training steps on a GPU: f32, tf32, or bf16 (stage 2: convolutions bf16, head tf32)",
            Form.constant(Precision.class),
            DefaultRecipe.PRECISION_RULE);

    /** {@link StiefelOptions#defaults} and {@link AdamWOptions#STIEFEL_MULTIPLIER} say why. */
    public static final Key<Double> MULTIPLIER = chosen(
            "stiefel.multiplier",
            "factor on the learning rate of matrices with orthonormal columns",
            NUMBER,
            UpdateRule.MULTIPLIER_RULE);

    /** {@link StiefelOptions#defaults} says why. */
    public static final Key<Stiefel.Metric> METRIC =
            fixed("stiefel.metric", "which Riemannian gradient", Form.constant(Stiefel.Metric.class), STIEFEL.metric());

    /** {@link StiefelOptions#defaults} says why. */
    public static final Key<Retraction> RETRACTION = fixed(
            "stiefel.retraction",
            "the way back onto the manifold",
            Form.constant(Retraction.class),
            STIEFEL.retraction());

    /** Only the authors' code has one. */
    public static final Key<OptionalDouble> CONSTANT_RATE = fixed(
            "stiefel.constant-rate",
            "a rate of these matrices that nothing changes, without momentum; none: the factor counts",
            Form.numberOr("none"),
            STIEFEL.constantRate());

    /** Balanced: the accuracy that more time would bring is small beside what fine-tuning brings. */
    public static final Key<Quality> QUALITY = fixed(
            "quality",
            "fast: frozen features only; balanced: fine-tuning where it pays; best: larger images and longer",
            Form.constant(Quality.class),
            Quality.BALANCED);

    /** Any number would do; a fixed one makes runs repeatable without being asked. */
    public static final Key<Long> SEED = fixed("seed", "of first values, order, crops and folds", Form.anyWhole(), 0L);

    /** What is right, rather than what was printed or released. */
    public static final Key<Fidelity> FIDELITY = fixed(
            "fidelity",
            "which mathematics and recipe: corrected, as printed, or as in the authors' code",
            Form.word(Arrays.asList(Fidelity.values()), Fidelity::text),
            Fidelity.CORRECTED);

    /** It costs little beside training, and a report without pictures says little. Tables have none unless asked. */
    public static final Key<Boolean> GALLERY = fixed(
            "gallery",
            "whether thumbnails and short descriptors of the images, and a look into the pooling, are kept",
            Form.truth(),
            true);

    private static final List<Key<?>> ALL = List.of(
            LAYOUT,
            PROTOCOL,
            CROPS,
            AUGMENT,
            TEST_CROPS,
            VALIDATION,
            NEAR_DUPLICATES,
            FEATURE_TYPE,
            BACKBONE,
            LAYER,
            WEIGHTS,
            POOLING,
            CLASSIFIER,
            LOGIT_NORM,
            DROPOUT,
            STAGE1_EPOCHS,
            STAGE1_RATE,
            PER_LENGTH,
            STAGE1_SCHEDULE,
            STAGE1_WARMUP,
            STAGE1_EXTEND,
            STAGE1_REFIT,
            STAGE2_EPOCHS,
            STAGE2_RATE,
            BACKBONE_RATE,
            LAYER_DECAY,
            STAGE2_SCHEDULE,
            STAGE2_WARMUP,
            STAGE2_EXTEND,
            STAGE2_IMAGE_SIZE,
            BATCH,
            ACCUMULATE,
            OPTIMIZER,
            MOMENTUM,
            BETA1,
            BETA2,
            WEIGHT_DECAY,
            CLIP,
            EMA,
            LABEL_SMOOTHING,
            CLASS_WEIGHTS,
            MIXUP,
            CUTMIX,
            PRECISION,
            MULTIPLIER,
            METRIC,
            RETRACTION,
            CONSTANT_RATE,
            QUALITY,
            SEED,
            FIDELITY,
            GALLERY);

    private Keys() {}

    /** All keys, those of a section together. */
    public static List<Key<?>> all() {
        return ALL;
    }

    /**
     * Whether the text of a key decides what model comes out: not where weights lie, which their content tells, nor what is
     * laid beside the model.
     */
    public static boolean decides(String name) {
        return !name.equals(WEIGHTS.name()) && !name.equals(GALLERY.name());
    }

    /** The names of all keys. */
    public static List<String> names() {
        return ALL.stream().map(Key::name).toList();
    }

    /**
     * The key of a name.
     *
     * @throws ConfigException if there is none; the message says which one may have been meant
     */
    public static Key<?> of(String name) {
        return ALL.stream()
                .filter(key -> key.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new ConfigException(Misspelling.of(name)));
    }

    /** Sets mixup and CutMix where they are unset: they belong to the policy {@code strong}. */
    static Settings chooseMixing(Settings settings) {
        boolean strong = settings.get(AUGMENT).equals(Augmentation.STRONG);
        String reason = strong ? "part of data.augment=strong" : "data.augment is not strong";
        return settings.orElse(MIXUP, strong ? STRONG_MIXUP : 0, reason)
                .orElse(CUTMIX, strong ? STRONG_CUTMIX : 0, reason);
    }

    private static Optional<CropPlan> testCrops(String text) {
        return text.equals("same") ? Optional.empty() : Optional.of(CropPlan.parse(text));
    }

    private static String pooling(String text) {
        if (text.strip().equalsIgnoreCase(PoolingRace.AUTO)) {
            return PoolingRace.AUTO;
        }
        FaithfulPooling.read(text, Fidelity.CORRECTED);
        return text;
    }

    private static String layout(String text) {
        Layouts.parse(text);
        return text;
    }

    private static Optional<String> weights(String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException("expected a name of weights, a file or none, found nothing");
        }
        return text.equals("none") ? Optional.empty() : Optional.of(text);
    }
}
