package org.gramian.run.config;

import static org.gramian.run.config.KeyOption.Group.DATA;
import static org.gramian.run.config.KeyOption.Group.MODEL;
import static org.gramian.run.config.KeyOption.Group.TRAINING;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Stream;
import org.gramian.image.augment.Augmentation;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.image.dataset.protocol.Protocols;
import org.gramian.linear.LinearSolver;
import org.gramian.pooling.Fidelity;
import org.gramian.pooling.Pooling;
import org.gramian.spd.layer.Retraction;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.train.AdamWOptions;
import org.gramian.train.SgdOptions;
import org.gramian.train.StiefelOptions;
import org.gramian.train.loop.PoolingSelection;
import org.gramian.train.recipe.Recipe.Loss.ClassWeights;
import org.gramian.train.recipe.Recipe.Precision;
import org.gramian.train.recipe.Schedule;

/**
 * Configuration keys of a training run: name, description, values, default and command-line option. YAML keys, the
 * options of {@code train}, {@code compare} and Spark's {@code train}, their help and docs/options.md are generated
 * from this table.
 */
public final class Keys {
    private static final List<Key<?>> ALL = new ArrayList<>();

    private static final SgdOptions SGD = SgdOptions.defaults(0);
    private static final AdamWOptions ADAMW = AdamWOptions.defaults(0);
    private static final StiefelOptions STIEFEL = StiefelOptions.defaults();

    private static final Form<Double> NUMBER = Form.number();
    private static final Form<Double> ALPHA = Form.below(1000);
    private static final Form<Integer> EPOCHS = Form.whole(0);
    private static final Form<Schedule> SCHEDULES = Form.of("SCHEDULE", Schedule::parse, Schedule::text);

    public static final Key<String> LAYOUT = chosen(
            "data.layout",
            "directory layout of the dataset",
            Form.checked("LAYOUT", Layouts::parse),
            "detected",
            DATA.option(10, "--layout LAYOUT", "directory layout of the dataset (default: detected)"));
    public static final Key<Protocol> PROTOCOL = chosen(
            "data.protocol",
            "train/test splits, e.g. holdout:0.2 or thirds:3",
            Form.of("PROTOCOL", Protocols::parse, Protocol::text),
            "the official split of a known dataset, else holdout:0.2",
            DATA.option(20, "--protocol PROTOCOL", "train/test splits, e.g. thirds:3 (default: holdout:0.2)"));

    /** The whole image: a centre crop omits 23 % of a square image; the paper's 15 crops take 15 times as long. */
    public static final Key<CropPlan> CROPS = chosen(
            "data.crops",
            "crops of an image, e.g. resize:320 (the whole image), center:224+flips or paper",
            Form.of("CROPS", CropPlan::parse, CropPlan::text),
            DefaultRecipe.CROPS_RULE,
            DATA.option(30, "--crops CROPS", "crops of an image, e.g. center:224+flips or paper")
                    .onSpark());

    /** Unused without fine-tuning: features of a frozen backbone are computed once. */
    public static final Key<Augmentation> AUGMENT = chosen(
            "data.augment",
            "augmentation of training images in fine-tuning, e.g. standard or light+erase:0.25",
            Form.of(
                    String.join("|", Augmentation.names()) + "[+PART:VALUE]...",
                    Augmentation::parse,
                    Augmentation::text),
            DefaultRecipe.AUGMENT_RULE,
            DATA.option(
                    80,
                    "--augment POLICY",
                    "augmentation in fine-tuning: none, light, standard or strong, or light+erase:0.25"));

    /** Empty ({@code same}): the test crops of {@link #CROPS}. A larger size than in training often gains accuracy. */
    public static final Key<Optional<CropPlan>> TEST_CROPS = fixed(
            "data.test-crops",
            "crops for validation, test and prediction, e.g. resize:288+flips; same: the test crops of data.crops",
            Form.orWord("CROPS|same", "same", CropPlan::parse, CropPlan::text),
            Optional.empty(),
            DATA.option(70, "--test-crops CROPS", "crops for validation, test and prediction, e.g. resize:288+flips"));

    /** A tenth: a smaller set is too noisy to rank epochs, a larger one takes too many images from training. */
    public static final Key<Double> VALIDATION = chosen(
            "data.validation",
            "fraction of training images for the validation set, if the protocol has none; 0: no validation set",
            Form.below(1),
            DefaultRecipe.VALIDATION_RULE,
            DATA.option(90, "--validation FRACTION", "fraction of training images for the validation set; 0: none")
                    .onSpark("fraction of images for the validation set; 0: none"));

    /** Together: near-duplicates of training images in the test set would inflate the accuracy. */
    public static final Key<Boolean> NEAR_DUPLICATES = chosen(
            "data.near-duplicates",
            "near-duplicates: on one side of random splits, in one fold (together), or like other images (ignore)",
            Form.word(List.of(true, false), together -> together ? "together" : "ignore"),
            "together; ignore with fidelity paper or authors",
            DATA.option(
                    100,
                    "--near-duplicates WORD",
                    "in random splits and cross-validation: together (on one side) or ignore"));

    /** float32: float16 overflows in backbones without normalization; on FMD it has the same accuracy. */
    public static final Key<DType> FEATURE_TYPE = fixed(
            "data.feature-type",
            "precision of cached features",
            Form.word(List.of(DType.F32, DType.F16), type -> type == DType.F32 ? "f32" : "f16"),
            DType.F32);

    public static final Key<String> BACKBONE = chosen(
            "network.backbone",
            "backbone, e.g. googlenet; 'gramian backbones' lists all",
            Form.of("NAME", NetworkConfig::backboneName, name -> name),
            BackboneRanking.RULE,
            MODEL.option(10, "--backbone NAME", "backbone, e.g. googlenet, or FILE.onnx (default: the best installed)")
                    .onSpark("backbone, e.g. googlenet"));
    public static final Key<String> LAYER = chosen(
            "network.layer",
            "layer whose feature maps are pooled; a+b concatenates the channels of two layers",
            Form.name("LAYER"),
            DefaultRecipe.LAYER_RULE,
            MODEL.option(20, "--layer LAYER", "layer whose feature maps are pooled")
                    .onSpark());
    public static final Key<Optional<String>> WEIGHTS = chosen(
            "network.weights",
            "pretrained weights: a name of 'gramian weights list' or a file; none: no weights",
            Form.orWord("FILE", "none", Keys::weights, text -> text),
            "the installed weights of the backbone",
            MODEL.option(30, "--weights FILE", "pretrained weights: a file, or a name of 'gramian weights list'")
                    .onSpark("pretrained weights: a file on the driver, or a name of 'gramian weights list'"));

    /** Unparsed: its defaults depend on {@link #FIDELITY}, see {@link NetworkConfig#pooling}. */
    public static final Key<String> POOLING = chosen(
            "network.pooling",
            "pooling: auto (compares methods on training images), a method, or stages joined by '/'",
            Form.of("SPEC", Keys::pooling, text -> text),
            DefaultRecipe.POOLING_RULE,
            MODEL.option(
                            40,
                            "--pooling SPEC",
                            "pooling: auto, a method of 'gramian methods' such as bcnn, or stages joined by '/'")
                    .onSpark("pooling: a method such as bcnn, or stages joined by '/'"));

    /** Softmax, except for methods that were published with another classifier. */
    public static final Key<Optional<LinearSolver>> CLASSIFIER = chosen(
            "network.classifier",
            "softmax (trained by epochs), svm[:C=NUMBER], logistic[:C=NUMBER], mean, lda[:shrinkage=NUMBER]",
            ClassifierChoice.FORM,
            ClassifierChoice.RULE,
            MODEL.option(
                    50, "--classifier WORD", "classifier: softmax (trained by epochs), svm, logistic, mean or lda"));

    /** Off, as in the paper; the authors' code has it. */
    public static final Key<Boolean> LOGIT_NORM =
            fixed("network.logit-norm", "batch normalization of the logits", Form.truth(), false);

    public static final Key<Double> DROPOUT = chosen(
            "network.dropout",
            "dropout rate before the classifier",
            Form.below(1),
            DefaultRecipe.DROPOUT_RULE,
            TRAINING.option(160, "--dropout FRACTION", "dropout rate before the classifier")
                    .onSpark());

    public static final Key<Integer> STAGE1_EPOCHS = chosen(
            "stage1.epochs",
            "maximum epochs of training the head on a frozen backbone; 0: none",
            EPOCHS,
            StageLength.EPOCHS_RULE,
            TRAINING.option(20, "--epochs N", "maximum epochs of training the head on a frozen backbone")
                    .onSpark("maximum epochs"));
    public static final Key<Double> STAGE1_RATE = chosen(
            "stage1.rate",
            "learning rate of the head",
            NUMBER,
            HeadRate.RULE,
            TRAINING.option(30, "--lr RATE", "learning rate of the head")
                    .alias("--learning-rate")
                    .onSpark("learning rate"));
    public static final Key<Boolean> PER_LENGTH = chosen(
            "stage1.per-length",
            "divide the classifier's learning rate by the mean squared norm of the centred descriptors",
            Form.truth(),
            HeadRate.PER_LENGTH_RULE);

    /** Plateau stops early, so that the number of epochs is only an upper bound. */
    public static final Key<Schedule> STAGE1_SCHEDULE = chosen(
            "stage1.schedule",
            "learning rate schedule: constant, steps:6,7, cosine or plateau[:PATIENCE[,DROPS]]",
            SCHEDULES,
            StageLength.SCHEDULE_RULE,
            TRAINING.option(40, "--schedule SCHEDULE", "learning rate schedule of the head, e.g. cosine or steps:6,7")
                    .onSpark("learning rate schedule, e.g. cosine or steps:6,7"));

    public static final Key<Double> STAGE1_WARMUP = fixed("stage1.warmup", "warm-up epochs", NUMBER, 0.0);

    /** Gradient steps seldom reach the optimum of the linear classifier; a solver reaches it within seconds. */
    public static final Key<Optional<LinearSolver>> STAGE1_REFIT = chosen(
            "stage1.refit",
            "solver that refits the classifier after training, if validation accuracy does not fall; none: off",
            ClassifierChoice.REFIT_FORM,
            DefaultRecipe.REFIT_RULE);

    public static final Key<Integer> STAGE2_EPOCHS = chosen(
            "stage2.epochs",
            "maximum epochs of fine-tuning all layers; 0: frozen backbone",
            EPOCHS,
            DefaultRecipe.EPOCHS_RULE,
            TRAINING.option(50, "--fine-tune N", "maximum epochs of fine-tuning all layers; 0: frozen backbone"));

    /** The paper's value for SGD, see {@link UpdateRule} for AdamW. */
    public static final Key<Double> STAGE2_RATE = chosen(
            "stage2.rate",
            "learning rate of fine-tuning",
            NUMBER,
            UpdateRule.STAGE2_RATE_RULE,
            TRAINING.option(60, "--fine-tune-lr RATE", "learning rate of fine-tuning"));

    public static final Key<Double> BACKBONE_RATE = chosen(
            "stage2.backbone-rate",
            "factor on stage2.rate for the backbone",
            NUMBER,
            DefaultRecipe.BACKBONE_RATE_RULE,
            TRAINING.option(
                    70, "--backbone-rate FACTOR", "factor on the learning rate of the backbone in fine-tuning"));
    public static final Key<Double> LAYER_DECAY = fixed(
            "stage2.layer-decay",
            "layer-wise learning rate decay of the backbone, per block; 1: none",
            Form.share(),
            1.0);

    /** Plateau as in the paper, with a patience of one epoch, since an epoch of fine-tuning is expensive. */
    public static final Key<Schedule> STAGE2_SCHEDULE = chosen(
            "stage2.schedule",
            "learning rate schedule of fine-tuning, as stage1.schedule",
            SCHEDULES,
            DefaultRecipe.SCHEDULE_RULE);

    public static final Key<Double> STAGE2_WARMUP =
            chosen("stage2.warmup", "warm-up epochs of fine-tuning", NUMBER, DefaultRecipe.WARMUP_RULE);

    /** Smaller than test images: random resized crops enlarge objects (FixRes), and a smaller area trains faster. */
    public static final Key<Integer> STAGE2_IMAGE_SIZE = chosen(
            "stage2.image-size",
            "size of augmented training crops in fine-tuning, in pixels",
            Form.whole(1),
            DefaultRecipe.IMAGE_SIZE_RULE);

    public static final Key<Integer> BATCH = chosen(
            "optimizer.batch",
            "batch size",
            Form.whole(1),
            StageLength.BATCH_RULE,
            TRAINING.option(80, "--batch N", "batch size")
                    .alias("--batch-size")
                    .onSpark("batch size over all executors"));

    /** 1, as in the paper; larger values emulate a larger batch if memory is short. */
    public static final Key<Integer> ACCUMULATE =
            fixed("optimizer.accumulate", "gradient accumulation: batches per optimizer step", Form.whole(1), 1);

    public static final Key<UpdateRule> OPTIMIZER = chosen(
            "optimizer.name",
            "optimizer: sgd (with momentum) or adamw (with Riemannian Adam on the Stiefel manifold)",
            Form.constant(UpdateRule.class),
            DefaultRecipe.OPTIMIZER_RULE,
            TRAINING.option(90, "--optimizer NAME", "optimizer: sgd or adamw").onSpark());
    public static final Key<Double> MOMENTUM =
            fixed("optimizer.momentum", "momentum of sgd", Form.below(1), SGD.momentum());
    public static final Key<Double> BETA1 =
            fixed("optimizer.beta1", "beta1 of adamw: decay of the first moment", Form.below(1), ADAMW.beta1());
    public static final Key<Double> BETA2 =
            fixed("optimizer.beta2", "beta2 of adamw: decay of the second moment", Form.below(1), ADAMW.beta2());
    public static final Key<Double> WEIGHT_DECAY = chosen(
            "optimizer.weight-decay",
            "weight decay",
            NUMBER,
            UpdateRule.WEIGHT_DECAY_RULE,
            TRAINING.option(100, "--weight-decay NUMBER", "weight decay").onSpark());
    public static final Key<Double> CLIP = chosen(
            "optimizer.clip",
            "gradient clipping: maximum norm over all parameters; 0: off",
            NUMBER,
            DefaultRecipe.CLIP_RULE,
            TRAINING.option(110, "--clip NORM", "gradient clipping: maximum norm; 0: off")
                    .onSpark());

    /** Off: in short runs the moving average lags behind the weights. */
    public static final Key<Double> EMA = fixed(
            "optimizer.ema",
            "decay of the exponential moving average of the weights (EMA); 0: off",
            Form.below(1),
            0.0,
            TRAINING.option(120, "--ema DECAY", "exponential moving average of the weights: decay, e.g. 0.999; 0: off")
                    .onSpark());

    public static final Key<Double> LABEL_SMOOTHING = chosen(
            "optimizer.label-smoothing",
            "label smoothing",
            Form.below(1),
            DefaultRecipe.SMOOTHING_RULE,
            TRAINING.option(130, "--label-smoothing FRACTION", "label smoothing, e.g. 0.1"));

    /** None: most benchmark datasets are balanced, and accuracy weights every image equally. */
    public static final Key<ClassWeights> CLASS_WEIGHTS = fixed(
            "optimizer.class-weights",
            "class weights of the loss: none, or balanced (inverse to the class size)",
            Form.constant(ClassWeights.class),
            ClassWeights.NONE,
            TRAINING.option(170, "--class-weights WORD", "class weights of the loss: none or balanced"));

    public static final Key<Double> MIXUP = chosen(
            "optimizer.mixup",
            "mixup alpha in fine-tuning; 0: off",
            ALPHA,
            DefaultRecipe.MIXUP_RULE,
            TRAINING.option(140, "--mixup ALPHA", "mixup alpha in fine-tuning; 0: off"));
    public static final Key<Double> CUTMIX = chosen(
            "optimizer.cutmix",
            "CutMix alpha in fine-tuning; 0: off",
            ALPHA,
            DefaultRecipe.CUTMIX_RULE,
            TRAINING.option(150, "--cutmix ALPHA", "CutMix alpha in fine-tuning; 0: off"));

    /** On an H200, GoogLeNet fine-tunes on 1,750 crops/s in float32 and 3,230 in bfloat16 (docs/gpu.md). */
    public static final Key<Precision> PRECISION = chosen(
            "optimizer.precision",
            "precision of training on a GPU: f32, tf32, or bf16 (mixed precision: backbone bf16, head tf32)",
            Form.constant(Precision.class),
            DefaultRecipe.PRECISION_RULE);

    /** See {@link StiefelOptions#defaults} and {@link AdamWOptions#STIEFEL_MULTIPLIER}. */
    public static final Key<Double> MULTIPLIER = chosen(
            "stiefel.multiplier",
            "factor on the learning rate of Stiefel matrices (orthonormal columns)",
            NUMBER,
            UpdateRule.MULTIPLIER_RULE);

    public static final Key<Stiefel.Metric> METRIC = fixed(
            "stiefel.metric",
            "Riemannian metric of the gradient on the Stiefel manifold",
            Form.constant(Stiefel.Metric.class),
            STIEFEL.metric());
    public static final Key<Retraction> RETRACTION = fixed(
            "stiefel.retraction",
            "retraction onto the Stiefel manifold",
            Form.constant(Retraction.class),
            STIEFEL.retraction());

    /** Used by the authors' code only. */
    public static final Key<OptionalDouble> CONSTANT_RATE = fixed(
            "stiefel.constant-rate",
            "constant learning rate of Stiefel matrices, without momentum; none: use stiefel.multiplier",
            Form.numberOr("none"),
            STIEFEL.constantRate());

    /** Balanced: fine-tuning gains far more accuracy than the extra time of best. */
    public static final Key<Quality> QUALITY = fixed(
            "quality",
            "fast: frozen backbone; balanced: may fine-tune on a GPU; best: larger images, longer training",
            Form.constant(Quality.class),
            Quality.BALANCED,
            TRAINING.option(
                    10,
                    "--quality WORD",
                    "fast (frozen backbone), balanced or best (larger images, longer fine-tuning)"));

    public static final Key<Long> SEED = fixed(
            "seed",
            "random seed of initialization, shuffling, crops and splits",
            Form.anyWhole(),
            0L,
            TRAINING.option(180, "--seed N", "random seed").onSpark());
    public static final Key<Fidelity> FIDELITY = fixed(
            "fidelity",
            "formulas and recipe: corrected, paper (as printed) or authors (as in their code)",
            Form.word(Arrays.asList(Fidelity.values()), Fidelity::text),
            Fidelity.CORRECTED,
            MODEL.option(60, "--fidelity WORD", "formulas and recipe: corrected, paper or authors"));

    /** On: it costs little compared with training, and the report needs it. {@code compare} turns it off by default. */
    public static final Key<Boolean> GALLERY = fixed(
            "gallery",
            "store thumbnails, short descriptors and statistics of the pooling for the report",
            Form.truth(),
            true,
            TRAINING.flag(190, "--no-gallery", "false", "do not store thumbnails and descriptors for the report"));

    /** Off: {@code history.csv} has the same values. */
    public static final Key<Boolean> TENSORBOARD = fixed(
            "tensorboard",
            "write loss, accuracy and learning rate of each epoch for TensorBoard",
            Form.truth(),
            false,
            TRAINING.flag(200, "--tensorboard", "true", "write the values of each epoch for TensorBoard"));

    private Keys() {}

    /** Adds a key with a constant default. */
    private static <T> Key<T> fixed(String name, String meaning, Form<T> form, T value, KeyOption... option) {
        return add(name, meaning, form, new Key.Default.Fixed<>(value), option);
    }

    /** Adds a key whose default depends on other values; {@code rule} describes it. */
    private static <T> Key<T> chosen(String name, String meaning, Form<T> form, String rule, KeyOption... option) {
        return add(name, meaning, form, new Key.Default.Chosen<>(rule), option);
    }

    private static <T> Key<T> add(
            String name, String meaning, Form<T> form, Key.Default<T> defaultValue, KeyOption... option) {
        Key<T> key =
                new Key<>(name, meaning, form, defaultValue, Stream.of(option).findFirst());
        ALL.add(key);
        return key;
    }

    /** Returns all keys, grouped by section. */
    public static List<Key<?>> all() {
        return Collections.unmodifiableList(ALL);
    }

    /** Returns the command-line options of keys and of {@link CropOptions}, in the order of the help. */
    public static List<KeyOption> options() {
        return Stream.concat(ALL.stream().flatMap(key -> key.option().stream()), CropOptions.OPTIONS.stream())
                .sorted(Comparator.comparing(KeyOption::group).thenComparingInt(KeyOption::order))
                .toList();
    }

    /**
     * Returns whether a key influences the trained model. The path of the weights does not (their content is hashed),
     * and neither do keys of additional outputs.
     */
    public static boolean decides(String name) {
        return !name.equals(WEIGHTS.name()) && !isOutput(name);
    }

    /** Returns whether a key only adds output files to a run. */
    public static boolean isOutput(String name) {
        return name.equals(GALLERY.name()) || name.equals(TENSORBOARD.name());
    }

    /** Returns the names of all keys. */
    public static List<String> names() {
        return ALL.stream().map(Key::name).toList();
    }

    /**
     * Returns the key of a name.
     *
     * @throws ConfigException if there is none; the message suggests the nearest name
     */
    public static Key<?> of(String name) {
        return ALL.stream()
                .filter(key -> key.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new ConfigException(KeySuggestion.of(name)));
    }

    private static String pooling(String text) {
        if (text.strip().equalsIgnoreCase(PoolingSelection.AUTO)) {
            return PoolingSelection.AUTO;
        }
        Pooling.parse(text, Fidelity.CORRECTED);
        return text;
    }

    private static String weights(String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException(
                    "expected the name of installed weights, a file or none, found an empty value");
        }
        return text;
    }
}
