package org.gramian.spark.executor;

import java.util.stream.IntStream;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.gramian.model.Answer;
import org.gramian.model.Engine;
import org.jspecify.annotations.Nullable;

/** What a model can add to a row; null where the picture has none, and only {@link #ERROR} is not. */
public enum Output {
    /** The index of the likeliest class, as Spark's evaluators and {@code IndexToString} take it. */
    PREDICTION(DataTypes.DoubleType, Engine.Rows.SCORES),
    /** The name of the likeliest class. */
    CLASS(DataTypes.StringType, Engine.Rows.SCORES),
    /** The probability of each class, in the order of the classes, at the temperature of the card. */
    PROBABILITY(SQLDataTypes.VectorType(), Engine.Rows.SCORES),
    /** What the pooling ends with, the mean of the picture's crops. */
    DESCRIPTOR(SQLDataTypes.VectorType(), Engine.Rows.DESCRIPTORS),
    /** Why there is nothing else; null where there is. */
    ERROR(DataTypes.StringType, null);

    private final DataType type;
    private final Engine.@Nullable Rows needed;

    Output(DataType type, Engine.@Nullable Rows needed) {
        this.type = type;
        this.needed = needed;
    }

    /** The type of its column. */
    public DataType type() {
        return type;
    }

    /** What must be computed for it. */
    Engine.@Nullable Rows needed() {
        return needed;
    }

    /** Its value in the row of a picture. */
    @Nullable
    Object of(Scored scored) {
        Answer answer = scored.answer();
        float[] descriptor = scored.descriptor();
        return switch (this) {
            case PREDICTION -> answer == null ? null : (double) answer.logits().top();
            case CLASS -> answer == null ? null : answer.best().name();
            case PROBABILITY -> answer == null ? null : Vectors.dense(scored.probabilities());
            case DESCRIPTOR ->
                descriptor == null
                        ? null
                        : Vectors.dense(IntStream.range(0, descriptor.length)
                                .mapToDouble(i -> descriptor[i])
                                .toArray());
            case ERROR -> scored.error();
        };
    }
}
