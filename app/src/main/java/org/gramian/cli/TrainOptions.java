package org.gramian.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.run.config.ConfigException;
import org.gramian.run.config.ConfigFile;
import org.gramian.run.config.CropOptions;
import org.gramian.run.config.Key;
import org.gramian.run.config.Keys;
import org.gramian.run.config.Settings;
import org.gramian.train.loop.LearningRateFinder;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Options of training: one per commonly changed key, {@code --set} for all others, and {@code --config} for a file.
 *
 * <p>Values stay text until {@link #asked} parses them, so that an error names both option and key. {@link Keys} holds the
 * defaults.
 */
final class TrainOptions {
    @Option(
            names = "--config",
            paramLabel = "FILE",
            description =
                    "YAML file of keys, e.g. the config.yaml of a run; options override it, automatic values are chosen again")
    private @Nullable Path config;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "set any key of the list below, e.g. --set stage2.warmup=1; repeatable")
    private List<String> pairs = new ArrayList<>();

    @Mixin
    private final WeightsOptions weightsFolder = new WeightsOptions();

    @ArgGroup(validate = false, order = 10, heading = "%nData:%n")
    private final ImageOptions images = new ImageOptions();

    @ArgGroup(validate = false, order = 20, heading = "%nModel:%n")
    private final NetworkOptions network = new NetworkOptions();

    @ArgGroup(validate = false, order = 30, heading = "%nTraining:%n")
    private final LearningOptions learning = new LearningOptions();

    private static final class ImageOptions {
        @Option(
                names = "--layout",
                paramLabel = "LAYOUT",
                description = "directory layout of the dataset (default: detected)")
        private @Nullable String layout;

        @Option(
                names = "--protocol",
                paramLabel = "PROTOCOL",
                description = "train/test splits, e.g. thirds:3 (default: holdout:0.2)")
        private @Nullable String protocol;

        @Option(
                names = "--crops",
                paramLabel = "CROPS",
                description = "crops of an image, e.g. center:224+flips or paper")
        private @Nullable String crops;

        @Option(
                names = {"--image-size", "--img-size", "--imgsz"},
                paramLabel = "N",
                description = "image size: side of all crops in pixels, e.g. 320")
        private @Nullable String imageSize;

        @Option(names = "--test-size", paramLabel = "N", description = "image size for validation, test and prediction")
        private @Nullable String testSize;

        @Option(
                names = "--tta",
                paramLabel = "WORD",
                description = "test-time augmentation: none, flips, five or ten crops")
        private @Nullable String tta;

        @Option(
                names = "--test-crops",
                paramLabel = "CROPS",
                description = "crops for validation, test and prediction, e.g. resize:288+flips")
        private @Nullable String testCrops;

        CropOptions cropOptions() {
            return new CropOptions(imageSize, testSize, tta);
        }

        @Option(
                names = "--augment",
                paramLabel = "POLICY",
                description = "augmentation in fine-tuning: none, light, standard or strong, or light+erase:0.25")
        private @Nullable String augment;

        @Option(
                names = "--validation",
                paramLabel = "FRACTION",
                description = "fraction of training images for the validation set; 0: none")
        private @Nullable String validation;

        @Option(
                names = "--near-duplicates",
                paramLabel = "WORD",
                description = "in random splits and cross-validation: together (on one side) or ignore")
        private @Nullable String nearDuplicates;
    }

    private static final class NetworkOptions {
        @Option(
                names = "--backbone",
                paramLabel = "NAME",
                description = "backbone, e.g. googlenet (default: the best with installed weights)")
        private @Nullable String backbone;

        @Option(names = "--layer", paramLabel = "LAYER", description = "layer whose feature maps are pooled")
        private @Nullable String layer;

        @Option(
                names = "--weights",
                paramLabel = "FILE",
                description = "pretrained weights: a file, or a name of 'gramian weights list'")
        private @Nullable String weights;

        @Option(
                names = "--pooling",
                paramLabel = "SPEC",
                description = "pooling: auto, a method of 'gramian methods' such as bcnn, or stages joined by '/'")
        private @Nullable String pooling;

        @Option(
                names = "--classifier",
                paramLabel = "WORD",
                description = "classifier: softmax (trained by epochs), svm, logistic, mean or lda")
        private @Nullable String classifier;

        @Option(
                names = "--fidelity",
                paramLabel = "WORD",
                description = "formulas and recipe: corrected, paper or authors")
        private @Nullable String fidelity;
    }

    private static final class LearningOptions {
        @Option(
                names = "--quality",
                paramLabel = "WORD",
                description = "fast (frozen backbone), balanced or best (larger images, longer fine-tuning)")
        private @Nullable String quality;

        @Option(
                names = "--epochs",
                paramLabel = "N",
                description = "maximum epochs of training the head on a frozen backbone")
        private @Nullable String epochs;

        @Option(
                names = {"--lr", "--learning-rate"},
                paramLabel = "RATE",
                description = "learning rate of the head; auto: range test, also for fine-tuning")
        private @Nullable String rate;

        @Option(
                names = "--schedule",
                paramLabel = "SCHEDULE",
                description = "learning rate schedule of the head, e.g. cosine or steps:6,7")
        private @Nullable String schedule;

        @Option(
                names = "--fine-tune",
                paramLabel = "N",
                description = "maximum epochs of fine-tuning all layers; 0: frozen backbone")
        private @Nullable String fineTune;

        @Option(names = "--fine-tune-lr", paramLabel = "RATE", description = "learning rate of fine-tuning, or auto")
        private @Nullable String fineTuneRate;

        @Option(
                names = "--backbone-rate",
                paramLabel = "FACTOR",
                description = "factor on the learning rate of the backbone in fine-tuning")
        private @Nullable String backboneRate;

        @Option(
                names = {"--batch", "--batch-size"},
                paramLabel = "N",
                description = "batch size")
        private @Nullable String batch;

        @Option(names = "--optimizer", paramLabel = "NAME", description = "optimizer: sgd or adamw")
        private @Nullable String optimizer;

        @Option(names = "--weight-decay", paramLabel = "NUMBER", description = "weight decay")
        private @Nullable String weightDecay;

        @Option(names = "--clip", paramLabel = "NORM", description = "gradient clipping: maximum norm; 0: off")
        private @Nullable String clip;

        @Option(
                names = "--ema",
                paramLabel = "DECAY",
                description = "exponential moving average of the weights: decay, e.g. 0.999; 0: off")
        private @Nullable String ema;

        @Option(names = "--label-smoothing", paramLabel = "FRACTION", description = "label smoothing, e.g. 0.1")
        private @Nullable String smoothing;

        @Option(names = "--mixup", paramLabel = "ALPHA", description = "mixup alpha in fine-tuning; 0: off")
        private @Nullable String mixup;

        @Option(names = "--cutmix", paramLabel = "ALPHA", description = "CutMix alpha in fine-tuning; 0: off")
        private @Nullable String cutmix;

        @Option(names = "--dropout", paramLabel = "FRACTION", description = "dropout rate before the classifier")
        private @Nullable String dropout;

        @Option(
                names = "--class-weights",
                paramLabel = "WORD",
                description = "class weights of the loss: none or balanced")
        private @Nullable String classWeights;

        @Option(names = "--seed", paramLabel = "N", description = "random seed")
        private @Nullable String seed;

        @Option(names = "--no-gallery", description = "do not store thumbnails and descriptors for the report")
        private boolean noGallery;

        @Option(names = "--tensorboard", description = "write the values of each epoch for TensorBoard")
        private boolean tensorboard;
    }

    /** Returns the folder of installed weights. */
    WeightStore store() {
        return weightsFolder.store();
    }

    /** Returns the names of the given options. */
    List<String> typed() {
        List<String> names = new ArrayList<>();
        if (config != null) {
            names.add("--config");
        }
        if (!pairs.isEmpty()) {
            names.add("--set");
        }
        flags().forEach((name, asked) -> {
            if (asked.text != null) {
                names.add(name);
            }
        });
        names.addAll(shortOptions());
        return names;
    }

    /** Returns the given options that modify the crops instead of setting a key. */
    private List<String> shortOptions() {
        List<String> names = new ArrayList<>();
        if (images.imageSize != null) {
            names.add("--image-size");
        }
        if (images.testSize != null) {
            names.add("--test-size");
        }
        if (images.tta != null) {
            names.add("--tta");
        }
        return names;
    }

    /**
     * Returns the given settings; options override the file. Beside options, only explicit values of the file count: a learning
     * rate chosen automatically for one pooling may not suit another.
     *
     * @throws ConfigException naming file and line, or the option, and the key
     */
    Settings asked() {
        Settings typed = Settings.NONE;
        for (Map.Entry<String, Asked> one : flags().entrySet()) {
            if (one.getValue().text != null) {
                typed = typed.typed(one.getValue().key.name(), one.getValue().text, one.getKey());
            }
        }
        for (String pair : pairs) {
            typed = typed.typedPair(pair, "stage2.warmup=1");
        }
        if (LearningRateFinder.AUTO.equalsIgnoreCase(learning.rate) && !typed.has(Keys.STAGE2_RATE)) {
            typed = typed.typed(Keys.STAGE2_RATE.name(), LearningRateFinder.AUTO, "--lr");
        }
        Settings all = typed;
        if (config != null) {
            Settings file = ConfigFile.read(config);
            boolean alone = typed.values().isEmpty() && shortOptions().isEmpty();
            all = alone ? file : typed.over(file.wanted());
        }
        return images.cropOptions().applyTo(all);
    }

    private record Asked(Key<?> key, @Nullable String text) {}

    /** Returns the key and the given text of each option, by name. */
    private Map<String, Asked> flags() {
        Map<String, Asked> flags = new LinkedHashMap<>();
        flags.put("--layout", new Asked(Keys.LAYOUT, images.layout));
        flags.put("--protocol", new Asked(Keys.PROTOCOL, images.protocol));
        flags.put("--crops", new Asked(Keys.CROPS, images.crops));
        flags.put("--augment", new Asked(Keys.AUGMENT, images.augment));
        flags.put("--test-crops", new Asked(Keys.TEST_CROPS, images.testCrops));
        flags.put("--validation", new Asked(Keys.VALIDATION, images.validation));
        flags.put("--near-duplicates", new Asked(Keys.NEAR_DUPLICATES, images.nearDuplicates));
        flags.put("--backbone", new Asked(Keys.BACKBONE, network.backbone));
        flags.put("--layer", new Asked(Keys.LAYER, network.layer));
        flags.put("--weights", new Asked(Keys.WEIGHTS, network.weights));
        flags.put("--pooling", new Asked(Keys.POOLING, network.pooling));
        flags.put("--classifier", new Asked(Keys.CLASSIFIER, network.classifier));
        flags.put("--fidelity", new Asked(Keys.FIDELITY, network.fidelity));
        flags.put("--quality", new Asked(Keys.QUALITY, learning.quality));
        flags.put("--epochs", new Asked(Keys.STAGE1_EPOCHS, learning.epochs));
        flags.put("--lr", new Asked(Keys.STAGE1_RATE, learning.rate));
        flags.put("--schedule", new Asked(Keys.STAGE1_SCHEDULE, learning.schedule));
        flags.put("--fine-tune", new Asked(Keys.STAGE2_EPOCHS, learning.fineTune));
        flags.put("--fine-tune-lr", new Asked(Keys.STAGE2_RATE, learning.fineTuneRate));
        flags.put("--backbone-rate", new Asked(Keys.BACKBONE_RATE, learning.backboneRate));
        flags.put("--batch", new Asked(Keys.BATCH, learning.batch));
        flags.put("--optimizer", new Asked(Keys.OPTIMIZER, learning.optimizer));
        flags.put("--weight-decay", new Asked(Keys.WEIGHT_DECAY, learning.weightDecay));
        flags.put("--clip", new Asked(Keys.CLIP, learning.clip));
        flags.put("--ema", new Asked(Keys.EMA, learning.ema));
        flags.put("--label-smoothing", new Asked(Keys.LABEL_SMOOTHING, learning.smoothing));
        flags.put("--mixup", new Asked(Keys.MIXUP, learning.mixup));
        flags.put("--cutmix", new Asked(Keys.CUTMIX, learning.cutmix));
        flags.put("--dropout", new Asked(Keys.DROPOUT, learning.dropout));
        flags.put("--class-weights", new Asked(Keys.CLASS_WEIGHTS, learning.classWeights));
        flags.put("--seed", new Asked(Keys.SEED, learning.seed));
        flags.put("--no-gallery", new Asked(Keys.GALLERY, learning.noGallery ? "false" : null));
        flags.put("--tensorboard", new Asked(Keys.TENSORBOARD, learning.tensorboard ? "true" : null));
        return flags;
    }

    /** Lists all keys for the end of the help. */
    static String keys() {
        StringBuilder text = new StringBuilder("\nKeys of --config and --set:\n");
        for (Key<?> key : Keys.all()) {
            text.append("  %s=%s (default: %s)\n      %s\n"
                    .formatted(key.name(), key.form().expected(), key.usualText(), key.meaning()));
        }
        return text.toString();
    }
}
