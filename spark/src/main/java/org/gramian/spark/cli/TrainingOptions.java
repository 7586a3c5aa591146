package org.gramian.spark.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.gramian.run.config.ConfigException;
import org.gramian.run.config.CropOptions;
import org.gramian.run.config.Key;
import org.gramian.run.config.Keys;
import org.gramian.run.config.Settings;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * Options of training: those of {@code gramian train} that apply on Spark, under the same names and with the same defaults, and
 * {@code --set} for all other keys.
 */
final class TrainingOptions {
    private static final String EXAMPLE = "optimizer.momentum=0.9";

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "set any key of 'gramian train --help-all', e.g. --set " + EXAMPLE + "; repeatable")
    private List<String> pairs = new ArrayList<>();

    @Option(names = "--crops", paramLabel = "CROPS", description = "crops of an image, e.g. center:224+flips or paper")
    private @Nullable String crops;

    @Option(
            names = {"--image-size", "--img-size", "--imgsz"},
            paramLabel = "N",
            description = "image size: side of all crops in pixels, e.g. 320")
    private @Nullable String imageSize;

    @Option(names = "--test-size", paramLabel = "N", description = "image size for validation and prediction")
    private @Nullable String testSize;

    @Option(
            names = "--tta",
            paramLabel = "WORD",
            description = "test-time augmentation: none, flips, five or ten crops")
    private @Nullable String tta;

    @Option(
            names = "--validation",
            paramLabel = "FRACTION",
            description = "fraction of images for the validation set; 0: none")
    private @Nullable String validation;

    @Option(
            names = {"--validation-column", "--held-back-column"},
            paramLabel = "NAME",
            description = "boolean column of the table that marks the validation set, instead of a random fraction")
    private @Nullable String heldBack;

    @Option(names = "--backbone", paramLabel = "NAME", description = "backbone, e.g. googlenet")
    private @Nullable String backbone;

    @Option(names = "--layer", paramLabel = "LAYER", description = "layer whose feature maps are pooled")
    private @Nullable String layer;

    @Option(
            names = "--weights",
            paramLabel = "FILE",
            description = "pretrained weights: a file on the driver, or a name of 'gramian weights list'")
    private @Nullable String weights;

    @Option(
            names = "--pooling",
            paramLabel = "SPEC",
            description = "pooling: a method such as bcnn, or stages joined by '/'")
    private @Nullable String pooling;

    @Option(names = "--epochs", paramLabel = "N", description = "maximum epochs")
    private @Nullable String epochs;

    @Option(
            names = {"--lr", "--learning-rate"},
            paramLabel = "RATE",
            description = "learning rate; auto: range test")
    private @Nullable String rate;

    @Option(
            names = "--schedule",
            paramLabel = "SCHEDULE",
            description = "learning rate schedule, e.g. cosine or steps:6,7")
    private @Nullable String schedule;

    @Option(
            names = {"--batch", "--batch-size"},
            paramLabel = "N",
            description = "batch size over all executors")
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

    @Option(names = "--dropout", paramLabel = "FRACTION", description = "dropout rate before the classifier")
    private @Nullable String dropout;

    @Option(names = "--seed", paramLabel = "N", description = "random seed")
    private @Nullable String seed;

    private record Asked(
            String option, Key<?> key, @Nullable String text) {}

    private List<Asked> flags() {
        return List.of(
                new Asked("--crops", Keys.CROPS, crops),
                new Asked("--validation", Keys.VALIDATION, validation),
                new Asked("--backbone", Keys.BACKBONE, backbone),
                new Asked("--layer", Keys.LAYER, layer),
                new Asked("--weights", Keys.WEIGHTS, weights),
                new Asked("--pooling", Keys.POOLING, pooling),
                new Asked("--epochs", Keys.STAGE1_EPOCHS, epochs),
                new Asked("--lr", Keys.STAGE1_RATE, rate),
                new Asked("--schedule", Keys.STAGE1_SCHEDULE, schedule),
                new Asked("--batch", Keys.BATCH, batch),
                new Asked("--optimizer", Keys.OPTIMIZER, optimizer),
                new Asked("--weight-decay", Keys.WEIGHT_DECAY, weightDecay),
                new Asked("--clip", Keys.CLIP, clip),
                new Asked("--ema", Keys.EMA, ema),
                new Asked("--dropout", Keys.DROPOUT, dropout),
                new Asked("--seed", Keys.SEED, seed));
    }

    /** @throws ConfigException naming the option and the key */
    Settings asked() {
        Settings asked = Settings.NONE;
        for (Asked flag : flags()) {
            if (flag.text != null) {
                asked = asked.typed(flag.key.name(), flag.text, flag.option);
            }
        }
        for (String pair : pairs) {
            asked = asked.typedPair(pair, EXAMPLE);
        }
        asked = new CropOptions(imageSize, testSize, tta).applyTo(asked);
        if (heldBack != null && asked.has(Keys.VALIDATION)) {
            throw new IllegalArgumentException("expected --validation-column or " + Keys.VALIDATION.name()
                    + " (--validation), found both; leave one out");
        }
        return asked;
    }

    /**
     * Returns the column that marks the validation set; empty if a random fraction is used.
     *
     * @throws IllegalArgumentException if the table has no such boolean column
     */
    Optional<Column> heldBack(InputOptions.Images images) {
        if (heldBack == null) {
            return Optional.empty();
        }
        Column found = LabelOptions.found(heldBack, images);
        DataType type = images.rows().select(found).schema().apply(0).dataType();
        if (!type.equals(DataTypes.BooleanType)) {
            throw new IllegalArgumentException(
                    "--validation-column: expected booleans in '" + heldBack + "', found " + type.simpleString());
        }
        return Optional.of(found);
    }
}
