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
 * Options of training: the values of a run that are changed most, {@code --set} for all others, and a file of them.
 *
 * <p>Texts are kept as typed; {@link #asked} reads them, so that a wrong one is said with its key. Defaults are not here:
 * they stand in {@link Keys}, and the help lists them from there.
 */
final class TrainOptions {
    @Option(
            names = "--config",
            paramLabel = "FILE",
            description =
                    "a YAML file of keys, as a run keeps one; options go before it, and let what it says was chosen be chosen anew")
    private @Nullable Path config;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "any key of the list below, as --set stage2.warmup=1; may be given several times")
    private List<String> pairs = new ArrayList<>();

    @Mixin
    private final WeightsOptions weightsFolder = new WeightsOptions();

    @ArgGroup(validate = false, order = 10, heading = "%nPictures:%n")
    private final PictureOptions pictures = new PictureOptions();

    @ArgGroup(validate = false, order = 20, heading = "%nNetwork:%n")
    private final NetworkOptions network = new NetworkOptions();

    @ArgGroup(validate = false, order = 30, heading = "%nTraining:%n")
    private final LearningOptions learning = new LearningOptions();

    private static final class PictureOptions {
        @Option(names = "--layout", paramLabel = "LAYOUT", description = "how the images lie on disk")
        private @Nullable String layout;

        @Option(names = "--protocol", paramLabel = "PROTOCOL", description = "who trains and who tests, as thirds:3")
        private @Nullable String protocol;

        @Option(names = "--crops", paramLabel = "CROPS", description = "what is cut from an image, as paper")
        private @Nullable String crops;

        @Option(names = "--image-size", paramLabel = "N", description = "side of all crops in pixels, as 320")
        private @Nullable String imageSize;

        @Option(
                names = "--test-size",
                paramLabel = "N",
                description = "side of the crops of validation, test and prediction")
        private @Nullable String testSize;

        @Option(
                names = "--tta",
                paramLabel = "WORD",
                description = "test-time augmentation: none, flips, five or ten crops of an image")
        private @Nullable String tta;

        @Option(
                names = "--test-crops",
                paramLabel = "CROPS",
                description = "crops of validation, test and prediction, as resize:288+flips")
        private @Nullable String testCrops;

        CropOptions cropOptions() {
            return new CropOptions(imageSize, testSize, tta);
        }

        @Option(
                names = "--augment",
                paramLabel = "POLICY",
                description = "augmentation in stage 2: none, light, standard or strong, as standard+erase:0.25")
        private @Nullable String augment;

        @Option(
                names = "--validation",
                paramLabel = "SHARE",
                description = "share of the training images for the validation set; 0: none, epochs by training loss")
        private @Nullable String validation;

        @Option(
                names = "--near-duplicates",
                paramLabel = "WORD",
                description = "in random splits: together (on one side) or ignore (like other images)")
        private @Nullable String nearDuplicates;
    }

    private static final class NetworkOptions {
        @Option(names = "--backbone", paramLabel = "NAME", description = "the network, as googlenet")
        private @Nullable String backbone;

        @Option(names = "--layer", paramLabel = "LAYER", description = "where it is cut")
        private @Nullable String layer;

        @Option(
                names = "--weights",
                paramLabel = "FILE",
                description = "a file of weights, or a name of 'gramian weights list'")
        private @Nullable String weights;

        @Option(names = "--pooling", paramLabel = "SPEC", description = "features to descriptor, or a method, as bcnn")
        private @Nullable String pooling;

        @Option(
                names = "--classifier",
                paramLabel = "WORD",
                description = "softmax, which is trained, or svm, logistic, mean or lda, which are solved for")
        private @Nullable String classifier;

        @Option(names = "--fidelity", paramLabel = "WORD", description = "corrected, paper or authors")
        private @Nullable String fidelity;
    }

    private static final class LearningOptions {
        @Option(
                names = "--quality",
                paramLabel = "WORD",
                description = "fast (frozen features only), balanced or best (larger images, longer fine-tuning)")
        private @Nullable String quality;

        @Option(names = "--epochs", paramLabel = "N", description = "most epochs of the new layers (stage 1)")
        private @Nullable String epochs;

        @Option(
                names = "--lr",
                paramLabel = "RATE",
                description = "learning rate of the new layers (stage 1); auto: a range test for both stages")
        private @Nullable String rate;

        @Option(names = "--schedule", paramLabel = "SCHEDULE", description = "how it falls, as steps:6,7 (stage 1)")
        private @Nullable String schedule;

        @Option(names = "--fine-tune", paramLabel = "N", description = "most epochs of all layers (stage 2); 0: none")
        private @Nullable String fineTune;

        @Option(names = "--fine-tune-lr", paramLabel = "RATE", description = "learning rate in stage 2, or auto")
        private @Nullable String fineTuneRate;

        @Option(names = "--backbone-rate", paramLabel = "FACTOR", description = "on that rate, for the network")
        private @Nullable String backboneRate;

        @Option(names = "--batch", paramLabel = "N", description = "crops at once")
        private @Nullable String batch;

        @Option(names = "--optimizer", paramLabel = "NAME", description = "sgd or adamw")
        private @Nullable String optimizer;

        @Option(names = "--weight-decay", paramLabel = "NUMBER", description = "weight decay")
        private @Nullable String weightDecay;

        @Option(names = "--clip", paramLabel = "NORM", description = "largest norm of the gradient; 0: no clipping")
        private @Nullable String clip;

        @Option(names = "--ema", paramLabel = "DECAY", description = "decay of averaged weights, as 0.999; 0: none")
        private @Nullable String ema;

        @Option(names = "--label-smoothing", paramLabel = "SHARE", description = "of a label, spread over all classes")
        private @Nullable String smoothing;

        @Option(names = "--mixup", paramLabel = "ALPHA", description = "mixup of images in stage 2; 0: off")
        private @Nullable String mixup;

        @Option(names = "--cutmix", paramLabel = "ALPHA", description = "CutMix of images in stage 2; 0: off")
        private @Nullable String cutmix;

        @Option(
                names = "--dropout",
                paramLabel = "SHARE",
                description = "of descriptor elements set to 0 in training steps, before the classifier")
        private @Nullable String dropout;

        @Option(names = "--class-weights", paramLabel = "WORD", description = "none, or balanced for rare classes")
        private @Nullable String classWeights;

        @Option(names = "--seed", paramLabel = "N", description = "of first values, order, crops and folds")
        private @Nullable String seed;

        @Option(
                names = "--no-gallery",
                description = "leave no thumbnails and short descriptors of the images beside the model")
        private boolean noGallery;
    }

    /** Where weights are looked for. */
    WeightStore store() {
        return weightsFolder.store();
    }

    /** The options that were typed. */
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

    /** Short options for crops that were given; they change a value instead of being one. */
    private List<String> shortOptions() {
        List<String> names = new ArrayList<>();
        if (pictures.imageSize != null) {
            names.add("--image-size");
        }
        if (pictures.testSize != null) {
            names.add("--test-size");
        }
        if (pictures.tta != null) {
            names.add("--tta");
        }
        return names;
    }

    /**
     * What was asked for: options over the file. Beside options, a file counts with what somebody asked for in it: a rate that
     * was chosen for one pooling may not suit another.
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
        return pictures.cropOptions().applyTo(all);
    }

    private record Asked(Key<?> key, @Nullable String text) {}

    /** The options by name: what each one sets, and its text if it was given. */
    private Map<String, Asked> flags() {
        Map<String, Asked> flags = new LinkedHashMap<>();
        flags.put("--layout", new Asked(Keys.LAYOUT, pictures.layout));
        flags.put("--protocol", new Asked(Keys.PROTOCOL, pictures.protocol));
        flags.put("--crops", new Asked(Keys.CROPS, pictures.crops));
        flags.put("--augment", new Asked(Keys.AUGMENT, pictures.augment));
        flags.put("--test-crops", new Asked(Keys.TEST_CROPS, pictures.testCrops));
        flags.put("--validation", new Asked(Keys.VALIDATION, pictures.validation));
        flags.put("--near-duplicates", new Asked(Keys.NEAR_DUPLICATES, pictures.nearDuplicates));
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
        return flags;
    }

    /** All keys, for the end of the help. */
    static String keys() {
        StringBuilder text = new StringBuilder("\nKeys of --config and --set, and what holds without them:\n");
        for (Key<?> key : Keys.all()) {
            text.append("  %s=%s; without it %s\n      %s\n"
                    .formatted(key.name(), key.form().expected(), key.usualText(), key.meaning()));
        }
        return text.toString();
    }
}
