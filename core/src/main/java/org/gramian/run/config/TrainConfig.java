package org.gramian.run.config;

import static org.gramian.run.config.ValueCodec.AUGMENTATIONS;
import static org.gramian.run.config.ValueCodec.BOOLEANS;
import static org.gramian.run.config.ValueCodec.COUNTS;
import static org.gramian.run.config.ValueCodec.CROP_PLANS;
import static org.gramian.run.config.ValueCodec.FRACTIONS;
import static org.gramian.run.config.ValueCodec.NAMES;
import static org.gramian.run.config.ValueCodec.NUMBERS;
import static org.gramian.run.config.ValueCodec.POOLINGS;
import static org.gramian.run.config.ValueCodec.POSITIVE_COUNTS;
import static org.gramian.run.config.ValueCodec.PROTOCOLS;
import static org.gramian.run.config.ValueCodec.SCHEDULES;
import static org.gramian.run.config.ValueCodec.SEEDS;
import static org.gramian.run.config.ValueCodec.SOLVERS;
import static org.gramian.run.config.ValueCodec.below;
import static org.gramian.run.config.ValueCodec.text;
import static org.gramian.run.config.ValueCodec.words;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.gramian.accelerate.Rule;
import org.gramian.backbone.weights.BundledWeights;
import org.gramian.image.augment.Augmentation;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.linear.LinearSolver;
import org.gramian.pooling.Fidelity;
import org.gramian.spd.layer.Retraction;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.train.recipe.Recipe.Loss.ClassWeights;
import org.gramian.train.recipe.Recipe.Precision;
import org.gramian.train.recipe.Schedule;

/**
 * The keys of the configuration of a training run, in the order of YAML files and of the help. Each declares its name, its option, its
 * values, its description and its default. The options of {@code train}, {@code compare} and Spark's {@code train}, their help,
 * {@code --set}, config.yaml and docs/options.md follow from them.
 */
public final class TrainConfig {
    private static final List<ConfigKey<?>> KEYS = new ArrayList<>();

    // balanced: fine-tuning gains far more accuracy than the extra time of best
    public static final ConfigKey<Quality> QUALITY = key(words(Quality.class), "quality", "--quality WORD")
            .help("fast: frozen backbone; balanced: may fine-tune on a GPU; best: larger images, longer training")
            .fixed("balanced");

    public static final ConfigKey<String> LAYOUT = key(text("LAYOUT", Layouts::parse), "data.layout", "--layout LAYOUT")
            .help("directory layout of the dataset")
            .rule("detected");

    public static final ConfigKey<Protocol> PROTOCOL = key(PROTOCOLS, "data.protocol", "--protocol PROTOCOL")
            .help("train/test splits, e.g. holdout:0.2 or thirds:3")
            .rule("the official split of a known dataset, else holdout:0.2");

    // the whole image: a centre crop omits 23 % of a square image; the paper's 15 crops take 15 times as long
    public static final ConfigKey<CropPlan> CROPS = key(CROP_PLANS, "data.crops", "--crops CROPS")
            .help("crops of an image, e.g. resize:320 (the whole image), center:224+flips or paper")
            .rule("resize:224, or resize:320 for backbones pretrained on larger images");

    // a larger size than in training often gains accuracy
    public static final ConfigKey<Optional<CropPlan>> TEST_CROPS = key(
                    CROP_PLANS.or("same"), "data.test-crops", "--test-crops CROPS")
            .help("crops for validation, test and prediction, e.g. resize:288+flips; same: the test crops of"
                    + " data.crops")
            .fixed("same");

    // unused without fine-tuning: features of a frozen backbone are computed once
    public static final ConfigKey<Augmentation> AUGMENT = key(
                    AUGMENTATIONS.notation("none|light|standard|strong[+PART:VALUE]..."),
                    "data.augment",
                    "--augment POLICY")
            .help("augmentation in fine-tuning: none, light, standard, strong or e.g. light+erase:0.25")
            .rule("none; standard to fine-tune with adamw");

    // a tenth: a smaller set is too noisy to rank epochs, a larger one takes too many images from training
    public static final ConfigKey<Double> VALIDATION = key(FRACTIONS, "data.validation", "--validation FRACTION")
            .help("fraction of training images for validation, in place of the dataset's own set; 0: none")
            .rule("0.1 if the head or all layers are trained by epochs, else 0");

    // together: near-duplicates of training images in the test set would inflate the accuracy
    public static final ConfigKey<Boolean> NEAR_DUPLICATES = key(
                    words(List.of(true, false), List.of("together", "ignore")),
                    "data.near-duplicates",
                    "--near-duplicates WORD")
            .help("near-duplicates: on one side of random splits, in one fold (together), or like other images"
                    + " (ignore)")
            .rule("together; ignore with fidelity paper or authors");

    // float32: float16 overflows in backbones without normalization; on FMD it has the same accuracy
    public static final ConfigKey<DType> FEATURE_TYPE = key(
                    words(List.of(DType.F32, DType.F16), List.of("f32", "f16")), "data.feature-type")
            .help("precision of cached features")
            .fixed("f32");

    public static final ConfigKey<String> BACKBONE = key(
                    text("NAME", NetworkConfig::backbone), "network.backbone", "--backbone NAME")
            .help("backbone, e.g. googlenet, or FILE.onnx; 'gramian backbones' lists all")
            .rule("the best of those with installed weights and " + BundledWeights.NAME);

    public static final ConfigKey<String> LAYER = key(text("LAYER", _ -> {}), "network.layer", "--layer LAYER")
            .help("layer whose feature maps are pooled; a+b concatenates the channels of two layers")
            .rule("the backbone's default layer; two layers with the pooling auto");

    public static final ConfigKey<Optional<String>> WEIGHTS = key(
                    NAMES.or("none").notation("FILE"), "network.weights", "--weights FILE")
            .help("pretrained weights: a name of 'gramian weights list' or a file; none: no weights")
            .rule("the installed weights of the backbone");

    // a text: its defaults depend on the fidelity, see NetworkConfig.pooling
    public static final ConfigKey<String> POOLING = key(POOLINGS, "network.pooling", "--pooling SPEC")
            .help("pooling: auto (compares some), a method of 'gramian methods', or stages joined by '/'")
            .rule("auto; default if the head is trained by epochs");

    // softmax, except for methods that were published with another classifier
    public static final ConfigKey<Optional<LinearSolver>> CLASSIFIER = key(
                    SOLVERS.or("softmax").notation("CLASSIFIER"), "network.classifier", "--classifier WORD")
            .help("softmax (trained by epochs), svm[:C=NUMBER], mean, lda[:shrinkage=NUMBER]")
            .rule("the classifier of the pooling method, else softmax");

    // off as in the paper; the authors' code has it
    public static final ConfigKey<Boolean> LOGIT_NORM = key(BOOLEANS, "network.logit-norm")
            .help("batch normalization of the logits")
            .fixed("false");

    // as the rate of false alarms of a detector
    public static final ConfigKey<Double> UNKNOWN = key(FRACTIONS, "network.unknown", "--unknown RATE")
            .help("rate of images of known classes that are predicted as unknown, as images of no class are")
            .fixed("0.01");

    public static final ConfigKey<Double> DROPOUT = key(FRACTIONS, "network.dropout", "--dropout FRACTION")
            .help("dropout rate before the classifier")
            .rule("0.2 in fine-tuning with adamw, else 0");

    public static final ConfigKey<Integer> STAGE1_EPOCHS = key(COUNTS, "stage1.epochs", "--epochs N")
            .help("maximum epochs of training the head on a frozen backbone; 0: none")
            .rule("15; up to 60 if 15 epochs have fewer than 150 steps");

    public static final ConfigKey<Double> STAGE1_RATE = key(NUMBERS, "stage1.rate", "--lr --learning-rate RATE")
            .help("learning rate of the head")
            .rule("1, or 0.1 if the pooling trains codewords; 0.002 with adamw");

    public static final ConfigKey<Boolean> PER_LENGTH = key(BOOLEANS, "stage1.per-length")
            .help("divide the classifier's learning rate by the mean squared norm of the centred descriptors")
            .rule("true with sgd if stage1.rate is unset and pooling has no final l2");

    // plateau stops early, so that the number of epochs is only an upper bound
    public static final ConfigKey<Schedule> STAGE1_SCHEDULE = key(SCHEDULES, "stage1.schedule", "--schedule SCHEDULE")
            .help("learning rate schedule: constant, steps:6,7, cosine or plateau[:PATIENCE[,DROPS]]")
            .rule("plateau:2,2; cosine if an epoch has fewer than 25 steps");

    public static final ConfigKey<Double> STAGE1_WARMUP =
            key(NUMBERS, "stage1.warmup").help("warm-up epochs").fixed("0");

    // gradient steps seldom reach the optimum of the linear classifier; a solver reaches it within seconds
    public static final ConfigKey<Optional<LinearSolver>> STAGE1_REFIT = key(SOLVERS.or("none"), "stage1.refit")
            .help("solver that refits the classifier after training, if validation accuracy does not fall; none: off")
            .rule("svm if the head is trained by epochs with softmax, else none");

    public static final ConfigKey<Integer> STAGE2_EPOCHS = key(COUNTS, "stage2.epochs", "--fine-tune N")
            .help("maximum epochs of fine-tuning all layers; 0: frozen backbone")
            .rule("20 on a GPU with at least " + Quality.FINE_TUNED_IMAGES + " images, else 0");

    public static final ConfigKey<Double> STAGE2_RATE = key(NUMBERS, "stage2.rate", "--fine-tune-lr RATE")
            .help("learning rate of fine-tuning")
            .rule("0.001, or 0.002 with adamw");

    public static final ConfigKey<Double> BACKBONE_RATE = key(NUMBERS, "stage2.backbone-rate", "--backbone-rate FACTOR")
            .help("factor on stage2.rate for the backbone")
            .rule("0.1 with adamw; else 1, or 0.1 for efficientnet-lite4");

    // as in the paper with a patience of one epoch, since an epoch of fine-tuning is expensive
    public static final ConfigKey<Schedule> STAGE2_SCHEDULE = key(SCHEDULES, "stage2.schedule")
            .help("learning rate schedule of fine-tuning, as stage1.schedule")
            .rule("cosine with adamw, else plateau:1,2");

    public static final ConfigKey<Double> STAGE2_WARMUP = key(NUMBERS, "stage2.warmup")
            .help("warm-up epochs of fine-tuning")
            .rule("0.08 times stage2.epochs with adamw; else 0, or 1 for efficientnet-lite4");

    // smaller than test images: random resized crops enlarge objects (FixRes), and a smaller area trains faster
    public static final ConfigKey<Integer> STAGE2_IMAGE_SIZE = key(POSITIVE_COUNTS, "stage2.image-size")
            .help("size of augmented training crops in fine-tuning, in pixels")
            .rule("the size of data.crops; with adamw 0.7 times that for crops above 256");

    public static final ConfigKey<Integer> BATCH = key(POSITIVE_COUNTS, "optimizer.batch", "--batch --batch-size N")
            .help("batch size")
            .rule("32; 8 for fewer than 320 crops; 64 in fine-tuning with adamw on 640+ images");

    // larger values emulate a larger batch if memory is short
    public static final ConfigKey<Integer> ACCUMULATE = key(POSITIVE_COUNTS, "optimizer.accumulate")
            .help("gradient accumulation: batches per optimizer step")
            .fixed("1");

    public static final ConfigKey<UpdateRule> OPTIMIZER = key(
                    words(UpdateRule.class), "optimizer.name", "--optimizer NAME")
            .help("optimizer: sgd (with momentum) or adamw (with Riemannian Adam on the Stiefel manifold)")
            .rule("adamw if the backbone is fine-tuned, else sgd");

    public static final ConfigKey<Double> MOMENTUM =
            key(FRACTIONS, "optimizer.momentum").help("momentum of sgd").fixed("0.9");

    public static final ConfigKey<Double> BETA1 = key(FRACTIONS, "optimizer.beta1")
            .help("beta1 of adamw: decay of the first moment")
            .fixed("0.9");

    public static final ConfigKey<Double> BETA2 = key(FRACTIONS, "optimizer.beta2")
            .help("beta2 of adamw: decay of the second moment")
            .fixed("0.999");

    public static final ConfigKey<Double> WEIGHT_DECAY = key(NUMBERS, "optimizer.weight-decay", "--weight-decay NUMBER")
            .help("weight decay")
            .rule("0.0005, or 0.02 with adamw");

    public static final ConfigKey<Double> CLIP = key(NUMBERS, "optimizer.clip", "--clip NORM")
            .help("gradient clipping: maximum norm over all parameters; 0: off")
            .rule("5 in fine-tuning with adamw, else 0");

    // off: in short runs the moving average lags behind the weights
    public static final ConfigKey<Double> EMA = key(FRACTIONS, "optimizer.ema", "--ema DECAY")
            .help("decay of the exponential moving average of the weights (EMA), e.g. 0.999; 0: off")
            .fixed("0");

    public static final ConfigKey<Double> LABEL_SMOOTHING = key(
                    FRACTIONS, "optimizer.label-smoothing", "--label-smoothing FRACTION")
            .help("label smoothing, e.g. 0.1")
            .rule("0.1 in fine-tuning with adamw, else 0");

    // none: most benchmark datasets are balanced, and accuracy weights every image equally
    public static final ConfigKey<ClassWeights> CLASS_WEIGHTS = key(
                    words(ClassWeights.class), "optimizer.class-weights", "--class-weights WORD")
            .help("class weights of the loss: none, or balanced (inverse to the class size)")
            .fixed("none");

    public static final ConfigKey<Double> MIXUP = key(below(1000), "optimizer.mixup", "--mixup ALPHA")
            .help("mixup alpha in fine-tuning; 0: off")
            .rule("0.2 with data.augment=strong, else 0");

    public static final ConfigKey<Double> CUTMIX = key(below(1000), "optimizer.cutmix", "--cutmix ALPHA")
            .help("CutMix alpha in fine-tuning; 0: off")
            .rule("1 with data.augment=strong, else 0");

    // on an H200, GoogLeNet fine-tunes on 1,750 crops/s in float32 and 3,230 in bfloat16 (docs/gpu.md)
    public static final ConfigKey<Precision> PRECISION = key(words(Precision.class), "optimizer.precision")
            .help("precision of training on a GPU: f32, tf32, or bf16 (mixed precision: backbone bf16, head tf32)")
            .rule("bf16 in fine-tuning with adamw on a GPU, else f32");

    public static final ConfigKey<Double> MULTIPLIER = key(NUMBERS, "stiefel.multiplier")
            .help("factor on the learning rate of Stiefel matrices (orthonormal columns)")
            .rule("0.001, or 10 with adamw");

    public static final ConfigKey<Stiefel.Metric> METRIC = key(words(Stiefel.Metric.class), "stiefel.metric")
            .help("Riemannian metric of the gradient on the Stiefel manifold")
            .fixed("canonical");

    public static final ConfigKey<Retraction> RETRACTION = key(words(Retraction.class), "stiefel.retraction")
            .help("retraction onto the Stiefel manifold")
            .fixed("qr");

    // used by the authors' code only
    public static final ConfigKey<Optional<Double>> CONSTANT_RATE = key(NUMBERS.or("none"), "stiefel.constant-rate")
            .help("constant learning rate of Stiefel matrices, without momentum; none: use stiefel.multiplier")
            .fixed("none");

    public static final ConfigKey<Fidelity> FIDELITY = key(words(Fidelity.class), "fidelity", "--fidelity WORD")
            .help("formulas and recipe: corrected, paper (as printed) or authors (as in their code)")
            .fixed("corrected");

    public static final ConfigKey<Long> SEED = key(SEEDS, "seed", "--seed N")
            .help("random seed of initialization, shuffling, crops and splits")
            .fixed("0");

    // on: it costs little compared with training, and the report needs it; compare turns it off by default
    public static final ConfigKey<Boolean> GALLERY = key(BOOLEANS, "gallery", "--no-gallery")
            .help("store thumbnails, short descriptors and statistics of the pooling for the report")
            .fixed("true");

    public static final ConfigKey<String> ACCELERATE = key(text("RULES", Rule::parse), "accelerate")
            .help("on; off: compute everything by plain layers; or rules to leave out, e.g. -stem,-tokens")
            .rule("GRAMIAN_ACCELERATE, else on");

    private TrainConfig() {}

    static List<ConfigKey<?>> keys() {
        return List.copyOf(KEYS);
    }

    private static <T> Declaration<T> key(ValueCodec<T> codec, String name, String option) {
        return new Declaration<>(codec, name, option, "");
    }

    /** Begins the declaration of a key that only files and {@code --set} reach. */
    private static <T> Declaration<T> key(ValueCodec<T> codec, String name) {
        return key(codec, name, "");
    }

    private record Declaration<T>(ValueCodec<T> codec, String name, String option, String text) {
        Declaration<T> help(String help) {
            return new Declaration<>(codec, name, option, help);
        }

        ConfigKey<T> fixed(String value) {
            return add(value, true);
        }

        /** Ends the declaration of a key whose default {@link DefaultResolver} chooses; describes the choice. */
        ConfigKey<T> rule(String rule) {
            return add(rule, false);
        }

        private ConfigKey<T> add(String defaultText, boolean isFixed) {
            ConfigKey<T> key = new ConfigKey<>(name, option, codec, text, defaultText, isFixed);
            KEYS.add(key);
            return key;
        }
    }

    /** Effort of a run: the trade-off between time and accuracy for unset options. */
    public enum Quality {
        /** Frozen features of small images, a classifier fitted by a solver. */
        FAST,
        /** Frozen features, then fine-tuning on a GPU with enough images. */
        BALANCED,
        /** Larger images, mirrored test crops, longer fine-tuning. */
        BEST;

        /** Number of images from which fine-tuning on a GPU gained accuracy; FMD and dtd10 have fewer. */
        public static final int FINE_TUNED_IMAGES = 1500;
    }

    public enum UpdateRule {
        SGD,
        ADAMW
    }
}
