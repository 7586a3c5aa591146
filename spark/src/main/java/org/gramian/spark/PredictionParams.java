package org.gramian.spark;

import org.apache.spark.ml.param.Param;

/**
 * Parameters of stages with predictions: their output columns. An empty name omits a column.
 *
 * @param <S> the stage itself, which setters return
 */
public interface PredictionParams<S> extends ImageParams<S> {
    /** Output column of the index of the predicted class. */
    default Param<String> predictionCol() {
        return ModelStage.text(
                this,
                "predictionCol",
                "output column for the index of the predicted class, a double;" + " empty for none");
    }

    default String getPredictionCol() {
        return getOrDefault(predictionCol());
    }

    default S setPredictionCol(String column) {
        return ModelStage.with(this, predictionCol(), column);
    }

    /** Output column of the name of the predicted class. */
    default Param<String> classCol() {
        return ModelStage.text(
                this, "classCol", "output column for the name of the predicted class, a string; empty" + " for none");
    }

    default String getClassCol() {
        return getOrDefault(classCol());
    }

    default S setClassCol(String column) {
        return ModelStage.with(this, classCol(), column);
    }

    /** Output column of the probabilities. */
    default Param<String> probabilityCol() {
        return ModelStage.text(
                this,
                "probabilityCol",
                "output column for the probabilities of all classes, a vector;" + " empty for none");
    }

    default String getProbabilityCol() {
        return getOrDefault(probabilityCol());
    }

    default S setProbabilityCol(String column) {
        return ModelStage.with(this, probabilityCol(), column);
    }
}
