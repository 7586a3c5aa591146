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
 * Options of training that decide what comes out: those of {@code gramian train} that mean something here, under the same names, and
 * {@code --set} for all others. Each stands for a key; what holds without it is chosen as there.
 */
final class TrainingOptions {
    private static final String EXAMPLE = "optimizer.momentum=0.9";

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "any key of 'gramian train --help', as --set " + EXAMPLE + "; may be given several times")
    private List<String> pairs = new ArrayList<>();

    @Option(names = "--crops", paramLabel = "CROPS", description = "crops of an image, as resize:320 or paper")
    private @Nullable String crops;

    @Option(names = "--image-size", paramLabel = "N", description = "side of all crops in pixels, as 320")
    private @Nullable String imageSize;

    @Option(names = "--test-size", paramLabel = "N", description = "side of the crops of validation and prediction")
    private @Nullable String testSize;

    @Option(
            names = "--tta",
            paramLabel = "WORD",
            description = "test-time augmentation: none, flips, five or ten crops of an image")
    private @Nullable String tta;

    @Option(
            names = "--validation",
            paramLabel = "SHARE",
            description = "share of the images for the validation set; 0: none, epochs by training loss")
    private @Nullable String validation;

    @Option(
            names = {"--validation-column", "--held-back-column"},
            paramLabel = "NAME",
            description = "the column of a table that is true for validation images, instead of a random share")
    private @Nullable String heldBack;

    @Option(names = "--backbone", paramLabel = "NAME", description = "the backbone, as googlenet")
    private @Nullable String backbone;

    @Option(
            names = "--layer",
            paramLabel = "LAYER",
            description = "the layer of the backbone whose features are pooled")
    private @Nullable String layer;

    @Option(
            names = "--weights",
            paramLabel = "FILE",
            description = "a file of weights on the driver, or a name of 'gramian weights list'")
    private @Nullable String weights;

    @Option(
            names = "--pooling",
            paramLabel = "SPEC",
            description = "pooling from features to descriptor, or a method, as bcnn")
    private @Nullable String pooling;

    @Option(names = "--epochs", paramLabel = "N", description = "maximum number of epochs")
    private @Nullable String epochs;

    @Option(names = "--lr", paramLabel = "RATE", description = "learning rate; auto: a range test finds it")
    private @Nullable String rate;

    @Option(names = "--schedule", paramLabel = "SCHEDULE", description = "learning rate schedule, as steps:6,7")
    private @Nullable String schedule;

    @Option(names = "--batch", paramLabel = "N", description = "batch size, over all executors")
    private @Nullable String batch;

    @Option(names = "--optimizer", paramLabel = "NAME", description = "sgd or adamw")
    private @Nullable String optimizer;

    @Option(names = "--weight-decay", paramLabel = "NUMBER", description = "weight decay")
    private @Nullable String weightDecay;

    @Option(names = "--clip", paramLabel = "NORM", description = "gradient clipping norm; 0: no clipping")
    private @Nullable String clip;

    @Option(
            names = "--ema",
            paramLabel = "DECAY",
            description = "decay of the exponential moving average of weights, as 0.999; 0: none")
    private @Nullable String ema;

    @Option(
            names = "--dropout",
            paramLabel = "SHARE",
            description = "dropout rate of the descriptor, before the classifier")
    private @Nullable String dropout;

    @Option(names = "--seed", paramLabel = "N", description = "random seed of initialization, order and crops")
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
            throw new IllegalArgumentException("--validation-column marks the validation images, and "
                    + Keys.VALIDATION.name() + " (--validation) selects a random share: remove one of them");
        }
        return asked;
    }

    /**
     * The column of pictures that judge, empty where a share is chosen.
     *
     * @throws IllegalArgumentException if the table does not have it, or as something else than booleans
     */
    Optional<Column> heldBack(InputOptions.Pictures pictures) {
        if (heldBack == null) {
            return Optional.empty();
        }
        Column found = LabelOptions.found(heldBack, pictures);
        DataType type = pictures.rows().select(found).schema().apply(0).dataType();
        if (!type.equals(DataTypes.BooleanType)) {
            throw new IllegalArgumentException(
                    "--validation-column: expected booleans in '" + heldBack + "', found " + type.simpleString());
        }
        return Optional.of(found);
    }
}
