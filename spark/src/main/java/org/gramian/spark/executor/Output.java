package org.gramian.spark.executor;

import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.gramian.model.Answer;
import org.gramian.model.Engine;
import org.jspecify.annotations.Nullable;

/** What a model can add to a row; null where the picture has none, and only {@link #ERROR} is not. */
public enum Output {
    /** The index of the likeliest class, as Spark's evaluators and {@code IndexToString} take it. */
    PREDICTION(Engine.Rows.SCORES),
    /** The name of the likeliest class. */
    CLASS(Engine.Rows.SCORES),
    /** The probability of each class, in the order of the classes, at the temperature of the card. */
    PROBABILITY(Engine.Rows.SCORES),
    /** What the pooling ends with, the mean of the picture's crops. */
    DESCRIPTOR(Engine.Rows.DESCRIPTORS),
    /** Why there is nothing else; null where there is. */
    ERROR(null);

    private final Engine.@Nullable Rows needed;

    Output(Engine.@Nullable Rows needed) {
        this.needed = needed;
    }

    /** The type of its column. */
    public DataType type() {
        return switch (this) {
            case PREDICTION -> DataTypes.DoubleType;
            case CLASS, ERROR -> DataTypes.StringType;
            case PROBABILITY, DESCRIPTOR -> SQLDataTypes.VectorType();
        };
    }

    /** What must be computed for it. */
    Engine.@Nullable Rows needed() {
        return needed;
    }

    /** Its value in the row of a picture. */
    @Nullable
    Object of(Scored scored) {
        Answer answer = scored.answer();
        return switch (this) {
            case PREDICTION -> answer == null ? null : (double) answer.logits().top();
            case CLASS -> answer == null ? null : answer.best().name();
            case PROBABILITY -> answer == null ? null : scored.probabilities(answer);
            case DESCRIPTOR -> scored.descriptor();
            case ERROR -> scored.error();
        };
    }
}
