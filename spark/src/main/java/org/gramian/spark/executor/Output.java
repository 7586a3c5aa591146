package org.gramian.spark.executor;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.gramian.image.ReadResult.Problem;
import org.gramian.model.Answer;
import org.gramian.model.Engine;
import org.jspecify.annotations.Nullable;

/** What a model can add to a row; null where the image has none, and only {@link #ERROR} and {@link #ERROR_KIND} are not. */
public enum Output {
    /** The index of the likeliest class, as Spark's evaluators and {@code IndexToString} take it. */
    PREDICTION(Engine.Rows.SCORES),
    /** The name of the likeliest class. */
    CLASS(Engine.Rows.SCORES),
    /** The probability of each class, in the order of the classes, at the temperature of the card. */
    PROBABILITY(Engine.Rows.SCORES),
    /** What the pooling ends with, the mean of the image's crops. */
    DESCRIPTOR(Engine.Rows.DESCRIPTORS),
    /** Why there is nothing else; null where there is. */
    ERROR(null),
    /** The kind of error, one of few words by which errors can be counted; null where there is none. */
    ERROR_KIND(null);

    /** All kinds of errors that there can be. */
    public static final List<String> ERROR_KINDS = Stream.concat(
                    Arrays.stream(Problem.values()).map(Problem::name), Stream.of(Scored.NOT_FINITE))
            .toList();

    private final Engine.@Nullable Rows needed;

    Output(Engine.@Nullable Rows needed) {
        this.needed = needed;
    }

    /** The type of its column. */
    public DataType type() {
        return switch (this) {
            case PREDICTION -> DataTypes.DoubleType;
            case CLASS, ERROR, ERROR_KIND -> DataTypes.StringType;
            case PROBABILITY, DESCRIPTOR -> SQLDataTypes.VectorType();
        };
    }

    /** What must be computed for it. */
    Engine.@Nullable Rows needed() {
        return needed;
    }

    /** Its value in the row of an image. */
    @Nullable
    Object of(Scored scored) {
        Answer answer = scored.answer();
        Scored.Failure failure = scored.failure();
        return switch (this) {
            case PREDICTION -> answer == null ? null : (double) answer.logits().top();
            case CLASS -> answer == null ? null : answer.best().name();
            case PROBABILITY -> answer == null ? null : scored.probabilities(answer);
            case DESCRIPTOR -> scored.descriptor();
            case ERROR -> failure == null ? null : failure.reason();
            case ERROR_KIND -> failure == null ? null : failure.kind();
        };
    }
}
