package org.gramian.spark.executor;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.gramian.image.ReadResult.Problem;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;
import org.gramian.model.ModelCard;
import org.gramian.model.Prediction;
import org.jspecify.annotations.Nullable;

/** Output columns. {@link #ERROR} and {@link #ERROR_KIND} are null for readable images, all others for failed ones. */
public enum Output {
    /** Index of the most probable class, as Spark's evaluators and {@code IndexToString} take it. */
    PREDICTION(Engine.Rows.SCORES),
    /** Name of the most probable class. */
    CLASS(Engine.Rows.SCORES),
    /** Probability of each class, in the order of the classes, at the temperature of the card. */
    PROBABILITY(Engine.Rows.SCORES),
    /** Output of the pooling, the mean of the image's crops. */
    DESCRIPTOR(Engine.Rows.DESCRIPTORS),
    /** Reason of a failure. */
    ERROR(null),
    /** Kind of a failure, one of {@link #ERROR_KINDS}. */
    ERROR_KIND(null);

    public static final List<String> ERROR_KINDS = Stream.concat(
                    Arrays.stream(Problem.values()).map(Problem::name), Stream.of(ImageResult.Failed.NOT_FINITE))
            .toList();

    private final Engine.@Nullable Rows needed;

    Output(Engine.@Nullable Rows needed) {
        this.needed = needed;
    }

    public DataType type() {
        return switch (this) {
            case PREDICTION -> DataTypes.DoubleType;
            case CLASS, ERROR, ERROR_KIND -> DataTypes.StringType;
            case PROBABILITY, DESCRIPTOR -> SQLDataTypes.VectorType();
        };
    }

    Engine.@Nullable Rows needed() {
        return needed;
    }

    /** Returns the value in the row of an image. */
    @Nullable
    Object of(ImageResult result, ModelCard card) {
        return switch (result) {
            case ImageResult.Failed failed ->
                this == ERROR ? failed.reason() : this == ERROR_KIND ? failed.kind() : null;
            case ImageResult.Computed computed ->
                switch (this) {
                    case PREDICTION -> (double) prediction(computed).logits().top();
                    case CLASS -> prediction(computed).className();
                    case PROBABILITY ->
                        Vectors.dense(prediction(computed).logits().probabilities(card.temperature()));
                    case DESCRIPTOR -> vector(computed.descriptor());
                    case ERROR, ERROR_KIND -> null;
                };
        };
    }

    private static Prediction prediction(ImageResult.Computed computed) {
        return computed.prediction().orElseThrow();
    }

    private static Vector vector(float[] values) {
        double[] wide = new double[values.length];
        Arrays.setAll(wide, i -> values[i]);
        return Vectors.dense(wide);
    }
}
