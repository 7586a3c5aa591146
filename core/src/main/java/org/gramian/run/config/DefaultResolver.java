package org.gramian.run.config;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.gramian.accelerate.Rule;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.BundledWeights;
import org.gramian.backbone.weights.WeightName;
import org.gramian.image.augment.Augmentation;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.linear.Lda;
import org.gramian.linear.LinearSolver;
import org.gramian.linear.Svm;
import org.gramian.pooling.Aggregation;
import org.gramian.pooling.Codebook.DeepTen;
import org.gramian.pooling.Codebook.NetVlad;
import org.gramian.pooling.Fidelity;
import org.gramian.pooling.Join;
import org.gramian.pooling.Methods;
import org.gramian.pooling.Methods.Method;
import org.gramian.pooling.Normalization;
import org.gramian.pooling.Normalization.Pca;
import org.gramian.pooling.Pooling;
import org.gramian.run.config.Settings.Setting;
import org.gramian.run.config.TrainConfig.Quality;
import org.gramian.run.config.TrainConfig.UpdateRule;
import org.gramian.tensor.Device;
import org.gramian.train.AdamW;
import org.gramian.train.OptimizerRule;
import org.gramian.train.Sgd;
import org.gramian.train.StiefelOptions;
import org.gramian.train.loop.HeadSearch;
import org.gramian.train.recipe.Recipe.Precision;
import org.gramian.train.recipe.Schedule;

/**
 * Fills unset options with values chosen for the given ones, the images and the machine, each with its reason.
 *
 * <p>From strong to weak: given values; those of the {@link Fidelity}; what is best for the backbone, the pooling and the
 * device; the fixed defaults of {@link TrainConfig}. Without options a run compares poolings on frozen features of the whole image
 * and fits the classifier by a convex solver; on a GPU with enough images it fine-tunes all layers after that. docs/results.md has
 * the measurements on FMD, dtd10 and cars39 behind each choice.
 */
public final class DefaultResolver {
    /**
     * Backbones by their published accuracy on ImageNet, from 85 % for DINOv2 ViT-B/14 (linear evaluation) to 58 % for SqueezeNet;
     * {@link BundledWeights#NAME}, which has no such figure, was better than SqueezeNet on dtd10, FMD and cars39. On FMD, with the
     * paper's head on frozen features, EfficientNet-Lite4 reached 86 % and GoogLeNet 75 %.
     */
    static final List<String> BEST_BACKBONES = List.of(
            "dinov2-vitb14-reg",
            "dinov2-vitb14",
            "efficientnet_v2_s",
            "convnext_base",
            "convnext_small",
            "convnext_tiny",
            "efficientnet-lite4",
            "vit-s16",
            "vit-b16",
            "dinov2-vits14",
            "dinov2-vits14-reg",
            "resnet50",
            "resnet50-v1",
            "mobilenet_v3_large",
            "vgg19",
            "vgg16",
            "resnet18",
            "googlenet",
            BundledWeights.NAME,
            "squeezenet");

    /** The backbone that needs no weights: the default of a build without bundled weights. */
    private static final String WITHOUT_WEIGHTS = "filters";

    /** Image size of networks that were trained on larger images than 224. */
    private static final int LARGE_SIZE = 320;

    /** Maximum number of images for a search over C, which takes five times as long. */
    private static final int MAX_SEARCHED_IMAGES = 5000;

    private static final double DEFAULT_COST = 10;

    private static final int BATCH = 32;

    private static final int SMALL_BATCH = 8;
    private static final int FEW_CROPS = 10 * BATCH;
    private static final int FINE_TUNING_BATCH = 64;

    /** Epochs of stage 1 for many images: the schedule stops earlier. */
    private static final int EPOCHS = 15;

    /** Classes from which a head learned on frozen features may beat a solved one, and images per class that it needs. */
    private static final int MANY_CLASSES = 50;

    private static final int IMAGES_PER_CLASS = 20;

    private static final int MAX_EPOCHS = 60;
    private static final int MIN_STEPS = 150;

    /** Validation after epochs of fewer steps is too noisy for a plateau schedule. */
    private static final int PLATEAU_STEPS = 25;

    /** Schedules of the paper. */
    private static final Schedule STAGE1_PLATEAU =
            new Schedule.Plateau(Schedule.Plateau.PATIENCE, Schedule.Plateau.DROPS);

    private static final Schedule STAGE2_PLATEAU = new Schedule.Plateau(1, 2);

    private static final int PAPER_STAGE2_EPOCHS = 10;
    private static final int STAGE2_EPOCHS = 20;
    private static final int BEST_STAGE2_EPOCHS = 40;
    private static final int MIN_STAGE2_EPOCHS = 5;

    /** Maximum number of images over all epochs of fine-tuning: a million images take hours, not weeks. */
    private static final long MAX_IMAGES_SEEN = 400_000;

    /** Warm-up of fine-tuning as a fraction of its epochs. */
    private static final double WARMUP = 0.08;

    /** Learning rate of AdamW: about the change of a weight in each step, for any scale of descriptors and loss. */
    private static final double ADAMW_RATE = 2e-3;

    /** Factor on it for the backbone: 2e-4, a usual rate for fine-tuning. */
    private static final double ADAMW_BACKBONE_RATE = 0.1;

    private static final double PAPER_STAGE2_RATE = 0.001;

    /** Learning rate of all layers in the authors' solver files. */
    private static final double AUTHORS_RATE = 1e-5;

    /** Upper bound: the authors' number of iterations depends on the dataset. */
    private static final int AUTHORS_EPOCHS = 30;

    /** Backbone that diverges at the full learning rate of SGD: 10 % on FMD, which is chance. */
    private static final String DIVERGING = "efficientnet-lite4";

    public record Context(
            String layout, Protocol protocol, int images, int classes, List<WeightName> weights, Device.Kind device) {
        public Context {
            weights = List.copyOf(weights);
        }

        public static Context of(Dataset dataset, List<WeightName> weights, Device.Kind device) {
            return new Context(
                    dataset.source().layout(),
                    Protocol.defaultFor(dataset),
                    dataset.samples().size(),
                    dataset.classes().size(),
                    weights,
                    device);
        }

        /** Returns weights for a backbone: those of its own name, else its first. */
        private Optional<WeightName> weightsOf(String backbone) {
            return weights.stream()
                    .filter(name -> name.architecture().equals(backbone))
                    .min(Comparator.comparing(name -> !name.text().equals(backbone)));
        }
    }

    private final Context context;
    private Settings settings;

    private DefaultResolver(Settings given, Context context) {
        this.settings = given;
        this.context = context;
    }

    public static Settings complete(Settings given, Context context) {
        DefaultResolver resolver = new DefaultResolver(given, context);
        resolver.chooseModel();
        resolver.chooseTraining();
        RunConfig.of(resolver.settings); // rejects values that contradict each other
        return resolver.settings;
    }

    /** Returns settings with a backbone and its weights, the best installed ones where unset. */
    public static Settings withBackbone(Settings given, List<WeightName> weights) {
        Context context = new Context("", Protocol.parse("holdout:0.2"), 0, 1, weights, Device.Kind.CPU);
        DefaultResolver resolver = new DefaultResolver(given, context);
        resolver.chooseBackbone();
        return resolver.settings;
    }

    private void chooseModel() {
        choose("data.layout", context.layout(), "detected from the folder");
        choose("data.protocol", context.protocol(), "default for the layout " + context.layout());
        choose("accelerate", Rule.selection(), "the rules of this process");
        choosePooling();
        chooseBackbone();
        Backbone uncut = uncut();
        if (!isAuto()) { // its layers depend on fine-tuning
            choose("network.layer", uncut.defaultLayer(), "the default layer of " + uncut.name());
        }
        chooseSolver();
        chooseClassifier();
        settings = settings.over(ofFidelity(fidelity(), uncut.parameterCount() > 0));
        choose("data.near-duplicates", true, "test images must not be near-duplicates of training images");
        chooseStage2Epochs(uncut);
        get(TrainConfig.CLASSIFIER).ifPresent(this::chooseLearnedHead);
        if (isAuto()) {
            boolean tuned = get(TrainConfig.STAGE2_EPOCHS) > 0;
            choose(
                    "network.layer",
                    tuned ? uncut.fineTunedLayers() : uncut.selectionLayers(),
                    tuned ? "the default layers for fine-tuning" : "the layers that the pooling auto compares");
        }
    }

    private void chooseTraining() {
        Backbone backbone = NetworkConfig.backbone(settings);
        choose("data.crops", crops(settings, backbone), "the whole image at a size for " + backbone.name());
        chooseFineTuning(backbone);
        chooseOptimizerConstants();
        settings = settings.orDefaults();
        boolean strong = get(TrainConfig.AUGMENT).equals(Augmentation.STRONG);
        String mixing = strong ? "part of data.augment=strong" : "data.augment is not strong";
        choose("optimizer.mixup", strong ? 0.2 : 0, mixing);
        choose("optimizer.cutmix", strong ? 1 : 0, mixing);
        boolean trains = get(TrainConfig.CLASSIFIER).isEmpty()
                || get(TrainConfig.STAGE1_EPOCHS) + get(TrainConfig.STAGE2_EPOCHS) > 0;
        choose(
                "data.validation",
                trains ? 0.1 : 0, // solvers calibrate by cross-validation
                trains
                        ? "drawn to select the best epoch and to calibrate, unless the dataset has a validation set"
                        : "none is drawn: nothing is trained by epochs");
        spellOutPooling();
        Pooling solved = NetworkConfig.pooling(settings);
        chooseHeadRate(isAuto() ? HeadSearch.learned(NetworkConfig.backbone(settings)) : solved);
        chooseStage1Length();
        chooseRefit();
    }

    private void choose(String key, Object value, String reason) {
        settings = settings.orElse(key, value, reason);
    }

    private <T> T get(ConfigKey<T> key) {
        return settings.get(key);
    }

    private <T> T get(ConfigKey<T> key, T defaultValue) {
        return settings.find(key).orElse(defaultValue);
    }

    private Fidelity fidelity() {
        return get(TrainConfig.FIDELITY);
    }

    private boolean isCorrected() {
        return fidelity() == Fidelity.CORRECTED;
    }

    private boolean isAuto() {
        return get(TrainConfig.POOLING, "").equals(HeadSearch.AUTO);
    }

    private Backbone uncut() {
        return NetworkConfig.backbone(get(TrainConfig.BACKBONE));
    }

    /** Returns whether options imply a head that is trained by epochs on frozen features. */
    private boolean impliesStage1() {
        return get(TrainConfig.STAGE1_EPOCHS, 0) > 0
                || settings.has("stage1.rate")
                || settings.has("stage1.schedule")
                || get(TrainConfig.LOGIT_NORM)
                || settings.find(TrainConfig.CLASSIFIER)
                        .filter(Optional::isEmpty)
                        .isPresent();
    }

    private void choosePooling() {
        boolean learned = impliesStage1();
        if (isCorrected()) {
            choose(
                    "network.pooling",
                    learned ? "default" : HeadSearch.AUTO,
                    learned ? "the head is trained by epochs" : "selected by comparing heads on the training images");
        }
    }

    private void chooseBackbone() {
        if (settings.has("network.weights")) {
            chooseBackboneOf(get(TrainConfig.WEIGHTS));
        }
        rankBackbones();
        String name = get(TrainConfig.BACKBONE);
        Backbone backbone = uncut();
        if (!backbone.about().weights().needed()) {
            choose("network.weights", Optional.empty(), name + " needs no weights");
        } else if (backbone.definition().isPresent()) {
            choose("network.weights", Optional.of(name), "the file that defines " + backbone.name());
        } else {
            // without installed weights, their usual name: opening them reports how to get them
            String weights = context.weightsOf(name).map(WeightName::text).orElse(name);
            choose("network.weights", Optional.of(weights), "the weights of " + name);
        }
    }

    private void rankBackbones() {
        List<String> present = BEST_BACKBONES.stream()
                .filter(name -> context.weightsOf(name).isPresent())
                .toList();
        boolean bundled = present.equals(List.of(BundledWeights.NAME));
        choose(
                "network.backbone",
                present.isEmpty() ? WITHOUT_WEIGHTS : present.getFirst(),
                present.isEmpty()
                        ? "no pretrained weights are installed; get some with: gramian weights get NAME"
                        : bundled
                                ? "its weights are part of Gramian; get stronger ones with: gramian weights get NAME"
                                : "the best with installed weights (" + String.join(", ", present) + ")");
    }

    private void chooseBackboneOf(Optional<String> weights) {
        if (weights.isEmpty()) {
            choose("network.backbone", WITHOUT_WEIGHTS, "the backbone that needs no weights");
        } else if (!settings.has("network.backbone")) {
            try {
                String name = WeightName.parse(weights.get()).architecture();
                choose("network.backbone", name, "the backbone of the weights " + weights.get());
            } catch (IllegalArgumentException e) {
                throw new ConfigException(
                        "network.weights: expected network.backbone as well, because '" + weights.get()
                                + "' does not start with the name of a backbone",
                        e);
            }
        }
    }

    /** Fills an unset classifier with an SVM if the pooling has nothing to train. */
    private void chooseSolver() {
        if (!isCorrected() || settings.has("network.classifier") || impliesStage1()) {
            return;
        }
        if (isAuto()) {
            choose(
                    "network.classifier",
                    solver(1), // the search checks the room for each pooling
                    "or svm where cross-validation on the training images prefers it");
            return;
        }
        Backbone backbone = NetworkConfig.backbone(settings);
        Optional<String> named = Methods.find(get(TrainConfig.POOLING)).map(Method::classifier);
        if (named.filter(word -> !word.equals(Method.SOFTMAX)).isEmpty()) {
            untrainedSize(get(TrainConfig.POOLING), backbone)
                    .ifPresent(size ->
                            choose("network.classifier", solver(size), "the pooling has no trainable parameters"));
        }
    }

    /** Returns LDA, or an SVM where LDA has no room. */
    private Optional<LinearSolver> solver(long size) {
        LinearSolver lda = new Lda(OptionalDouble.empty());
        return lda.hasRoom(context.images(), size) ? Optional.of(lda) : svm(context.images());
    }

    private static Optional<LinearSolver> svm(long rows) {
        return Optional.of(
                new Svm(rows > MAX_SEARCHED_IMAGES ? OptionalDouble.of(DEFAULT_COST) : OptionalDouble.empty()));
    }

    /** Returns the length of the descriptor of a pooling without trainable parameters; empty for others. */
    private static OptionalLong untrainedSize(String text, Backbone backbone) {
        try {
            Pooling pooling = Pooling.parse(text).resolve(backbone, Integer.MAX_VALUE);
            return pooling.hasTrainable(backbone.channels())
                    ? OptionalLong.empty()
                    : OptionalLong.of(pooling.descriptorSize(backbone.channels()));
        } catch (IllegalArgumentException incompatible) {
            return OptionalLong.empty(); // RunConfig reports the conflict
        }
    }

    /**
     * Fills an unset classifier; a solver also sets no epochs and no normalization of logits.
     *
     * <p>The classifier of a method counts as set by the user, like the method: the file of a run has the stages of the
     * pooling instead of the name of the method.
     */
    private void chooseClassifier() {
        Optional<Method> method = settings.find(TrainConfig.POOLING).flatMap(Methods::find);
        if (method.isPresent() && !settings.has("network.classifier")) {
            String reason = "the classifier of " + method.get().name();
            if (method.get().classifier().equals(Method.SOFTMAX)) {
                choose("network.classifier", Method.SOFTMAX, reason);
            } else {
                settings = settings.with("network.classifier", method.get().classifier(), reason);
            }
        }
        choose("network.classifier", Method.SOFTMAX, "trained together with the pooling");
        Optional<LinearSolver> solver = get(TrainConfig.CLASSIFIER);
        if (solver.isPresent()) {
            String reason = solver.get().text() + " is fitted by a solver, without epochs";
            choose("network.logit-norm", false, reason);
            if (settings.setting("network.classifier").wanted()) {
                choose("stage2.epochs", 0, reason);
            }
        }
    }

    private void chooseLearnedHead(LinearSolver solver) {
        boolean many = context.classes() >= MANY_CLASSES && context.images() >= IMAGES_PER_CLASS * context.classes();
        Quality quality = get(TrainConfig.QUALITY);
        boolean learned = isAuto()
                && !settings.setting("network.classifier").wanted()
                && get(TrainConfig.STAGE2_EPOCHS) == 0
                && (quality == Quality.BEST || (quality == Quality.BALANCED && many));
        choose(
                "stage1.epochs",
                learned ? EPOCHS : 0,
                learned
                        ? "a learned head competes with the solved one"
                        : solver.text() + " is fitted by a solver, without epochs");
    }

    static Settings ofFidelity(Fidelity fidelity, boolean trainable) {
        if (fidelity == Fidelity.CORRECTED) {
            return Settings.NONE;
        }
        boolean paper = fidelity == Fidelity.PAPER;
        String why = paper ? "as in the paper" : "as in the authors' code";
        StiefelOptions stiefel = StiefelOptions.of(fidelity);

        Settings common = Settings.NONE
                .orElse("data.crops", "paper", why)
                .orElse("data.near-duplicates", false, why)
                .orElse("network.pooling", fidelity.method(), why)
                .orElse("optimizer.name", UpdateRule.SGD, why)
                .orElse("stage1.refit", Optional.empty(), why)
                .orElse("stiefel.multiplier", stiefel.multiplier(), why)
                .orElse("stiefel.metric", stiefel.metric(), why)
                .orElse("stiefel.retraction", stiefel.retraction(), why)
                .orElse("stiefel.constant-rate", stiefel.constantRate(), why);
        if (paper) {
            return common.orElse("stage1.rate", 0.1, why)
                    .orElse("stage1.schedule", STAGE1_PLATEAU, why)
                    .orElse("optimizer.batch", BATCH, why)
                    .orElse("stage2.rate", PAPER_STAGE2_RATE, why);
        }
        Settings authors = common.orElse("network.logit-norm", fidelity.normalizesScores(), why)
                .orElse("stage1.rate", AUTHORS_RATE, why)
                .orElse("stage2.rate", AUTHORS_RATE, why)
                .orElse("stage2.backbone-rate", 1, why)
                .orElse("stage2.warmup", 0, why)
                .orElse("optimizer.batch", 16, why)
                .orElse("optimizer.weight-decay", 5e-6, why);
        String together = why + ", which trains all layers together";
        return trainable
                ? authors.orElse("stage1.epochs", 0, together).orElse("stage2.epochs", AUTHORS_EPOCHS, together)
                : authors;
    }

    private void chooseStage2Epochs(Backbone backbone) {
        int images = context.images();
        Quality quality = get(TrainConfig.QUALITY);
        if (backbone.parameterCount() == 0) {
            choose("stage2.epochs", 0, backbone.name() + " has no trainable parameters");
        } else if (!onGpu()) {
            choose("stage2.epochs", 0, "fine-tuning on a CPU takes hours; enable it with --fine-tune N");
        } else if (!isCorrected()) {
            choose("stage2.epochs", PAPER_STAGE2_EPOCHS, "a GPU is available");
        } else if (quality == Quality.FAST) {
            choose("stage2.epochs", 0, "quality=fast");
        } else if (images < Quality.FINE_TUNED_IMAGES) {
            choose(
                    "stage2.epochs",
                    0,
                    "frozen features are as accurate with fewer than " + Quality.FINE_TUNED_IMAGES + " images");
        } else {
            int maxEpochs = quality == Quality.BEST ? BEST_STAGE2_EPOCHS : STAGE2_EPOCHS;
            int epochs = Math.clamp(MAX_IMAGES_SEEN / images, MIN_STAGE2_EPOCHS, maxEpochs);
            choose("stage2.epochs", epochs, "a GPU is available for " + images + " images");
        }
    }

    private boolean onGpu() {
        return context.device() == Device.Kind.CUDA;
    }

    /** Returns the default crops for a backbone and the quality that is set. */
    static CropPlan crops(Settings settings, Backbone backbone) {
        Quality quality = settings.get(TrainConfig.QUALITY);
        int standard = backbone.about().size() > CropPlan.DEFAULT_SIZE && quality != Quality.FAST
                ? LARGE_SIZE
                : CropPlan.DEFAULT_SIZE;
        int wanted = quality == Quality.BEST ? standard * 7 / 5 / 32 * 32 : standard;
        int size = backbone.fits(wanted, wanted) ? wanted : backbone.about().size();
        return new CropPlan(CropPlan.Kind.RESIZE, size, quality == Quality.BEST);
    }

    public static Settings withImageSize(Settings given, Map<String, String> typed) {
        String option = ConfigKey.Option.IMAGE_SIZE.name();
        String size = typed.get(option);
        if (size == null) {
            return given;
        }
        boolean corrected = given.get(TrainConfig.FIDELITY) == Fidelity.CORRECTED;
        boolean best = given.get(TrainConfig.QUALITY) == Quality.BEST;
        CropPlan crops = given.find(TrainConfig.CROPS)
                .orElseGet(() -> corrected
                        ? new CropPlan(CropPlan.Kind.RESIZE, CropPlan.DEFAULT_SIZE, best)
                        : CropPlan.parse("paper"));
        try {
            return given.with(
                    "data.crops",
                    crops.withSize(ValueCodec.POSITIVE_COUNTS.parse().apply(size)),
                    option);
        } catch (IllegalArgumentException e) {
            throw new ConfigException(option + ": " + e.getMessage(), e);
        }
    }

    private void chooseFineTuning(Backbone backbone) {
        int epochs = get(TrainConfig.STAGE2_EPOCHS);
        boolean modern =
                isCorrected() && epochs > 0 && get(TrainConfig.OPTIMIZER, UpdateRule.ADAMW) == UpdateRule.ADAMW;
        String plain = epochs == 0 ? "the backbone is frozen" : "as in the paper";
        String why = modern ? "the backbone is fine-tuned" : plain;
        boolean diverges = backbone.name().equals(DIVERGING);
        String sgdReason = diverges ? DIVERGING + " diverges at the full learning rate of SGD" : plain;
        int size = get(TrainConfig.CROPS).size();
        int smaller = modern && size > 256 ? size * 7 / 10 / 32 * 32 : size;
        if (modern && context.images() >= 10 * FINE_TUNING_BATCH) {
            choose("optimizer.batch", FINE_TUNING_BATCH, why);
        }
        choose("optimizer.name", modern ? UpdateRule.ADAMW : UpdateRule.SGD, why);
        if (isAdamW()) {
            choose(
                    "stage2.backbone-rate",
                    ADAMW_BACKBONE_RATE,
                    "pretrained weights need a smaller learning rate than new layers");
        }
        choose("stage2.schedule", modern ? new Schedule.Cosine() : STAGE2_PLATEAU, why);
        choose("stage2.warmup", modern ? WARMUP * epochs : diverges ? 1 : 0, modern ? why : sgdReason);
        choose("stage2.backbone-rate", diverges ? 0.1 : 1, sgdReason);
        choose("optimizer.label-smoothing", modern ? 0.1 : 0, why);
        choose("optimizer.clip", modern ? 5 : 0, why);
        choose("network.dropout", modern ? 0.2 : 0, why);
        choose("data.augment", modern ? Augmentation.STANDARD : Augmentation.NONE, why);
        choose("optimizer.precision", modern && onGpu() ? Precision.BF16 : Precision.F32, why);
        choose("stage2.image-size", backbone.fits(smaller, smaller) ? smaller : size, why);
    }

    private boolean isAdamW() {
        return get(TrainConfig.OPTIMIZER) == UpdateRule.ADAMW;
    }

    private void chooseOptimizerConstants() {
        boolean adamW = isAdamW();
        OptimizerRule usual = adamW ? AdamW.defaults(0) : Sgd.defaults(0);
        choose(
                "optimizer.weight-decay",
                usual.weightDecay(),
                adamW ? "AdamW multiplies weight decay by its small learning rate" : "the default weight decay of SGD");
        choose(
                "stiefel.multiplier",
                usual.stiefel().multiplier(),
                adamW
                        ? "AdamW's step on the Stiefel manifold has the length learning rate times multiplier"
                        : "gradients of Stiefel matrices are about 1000 times larger than others");
        choose("stage2.rate", adamW ? ADAMW_RATE : PAPER_STAGE2_RATE, adamW ? "usual for AdamW" : "as in the paper");
    }

    /** Replaces the name of a method by its stages: a later version may define the method differently. */
    private void spellOutPooling() {
        if (!isAuto()) {
            Setting given = settings.setting("network.pooling");
            String stages = fidelity().textOf(NetworkConfig.pooling(settings));
            settings = settings.with("network.pooling", stages, given.origin());
            settings = given.wanted() ? settings : settings.unwanted("network.pooling");
        }
    }

    /**
     * Chooses the learning rate of the head, which depends on the norm of the descriptors and so on the pooling.
     *
     * <p>Descriptors of norm 1 need the rate 1 (reference results on FMD); matrices on the Stiefel manifold use a thousandth of
     * it, see {@link StiefelOptions}. The squared norm of other descriptors is 1,000 to 300,000 on the backbones here, and the
     * classifier's rate is divided by the mean squared norm about the mean ({@code stage1.per-length}, measured in
     * docs/adr/0011). Codewords that are trained with the classifier lose their k-means values at rate 1 (the loss of NetVLAD
     * rises for epochs) and use 0.1.
     */
    private void chooseHeadRate(Pooling pooling) {
        if (isAdamW()) {
            String reason = "AdamW normalizes gradients, so the scale of descriptors does not matter";
            choose("stage1.per-length", false, reason);
            choose("stage1.rate", ADAMW_RATE, reason);
            return;
        }
        boolean given = settings.has("stage1.rate");
        boolean normalized = isNormalized(pooling);
        String length = normalized ? "descriptors have unit norm" : "descriptors do not have unit norm";
        boolean codewords = trainsCodewords(pooling.aggregation());
        choose("stage1.per-length", !given && !normalized, given ? "the learning rate is set" : length);
        choose(
                "stage1.rate",
                codewords ? 0.1 : 1,
                codewords ? "codewords of the pooling diverge at a larger learning rate" : length);
    }

    /**
     * Returns whether descriptors have norm 1. Behind {@code l2/scale} their norm is the scale, initially 30, so that the
     * classifier's rate depends on it.
     */
    private static boolean isNormalized(Pooling pooling) {
        return pooling.normalizations().reversed().stream()
                .filter(normalization -> !(normalization instanceof Pca)) // a projection of centred unit vectors
                .findFirst()
                .filter(Normalization.L2.class::isInstance)
                .isPresent();
    }

    private static boolean trainsCodewords(Aggregation aggregation) {
        return switch (aggregation) {
            case NetVlad _, DeepTen _ -> true;
            case Join join -> join.branches().stream().anyMatch(branch -> trainsCodewords(branch.aggregation()));
            default -> false;
        };
    }

    /** Chooses batch size, epochs and schedule of stage 1 by the number of steps; images of all splits count. */
    private void chooseStage1Length() {
        long crops = trainingCrops();
        if (crops < FEW_CROPS) {
            choose("optimizer.batch", SMALL_BATCH, "fewer than " + FEW_CROPS + " training crops");
        }
        choose("optimizer.batch", BATCH, "as in the paper");
        long batch = (long) get(TrainConfig.BATCH) * get(TrainConfig.ACCUMULATE);
        long steps = Math.max(1, Math.ceilDiv(crops, batch));
        String reason = "an epoch has about " + steps + (steps == 1 ? " step" : " steps");
        choose("stage1.epochs", Math.clamp(Math.ceilDiv(MIN_STEPS, steps), EPOCHS, MAX_EPOCHS), reason);
        choose("stage1.schedule", steps < PLATEAU_STEPS ? new Schedule.Cosine() : STAGE1_PLATEAU, reason);
    }

    private long trainingCrops() {
        return (long) context.images() * get(TrainConfig.CROPS).training(0).count();
    }

    private void chooseRefit() {
        String reason = !isCorrected()
                ? "as in the paper"
                : get(TrainConfig.CLASSIFIER).isPresent()
                        ? "the classifier is fitted by a solver"
                        : get(TrainConfig.STAGE1_EPOCHS) == 0
                                ? "the head is not trained by epochs"
                                : get(TrainConfig.LOGIT_NORM) ? "network.logit-norm is true" : "";
        if (reason.isEmpty()) {
            choose(
                    "stage1.refit",
                    svm(trainingCrops()),
                    "gradient descent seldom reaches the optimum of the classifier");
        } else {
            choose("stage1.refit", Optional.empty(), reason);
        }
    }
}
