package org.gramian.spark;

import java.util.List;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.Params;

/**
 * Parameters of {@link GramianModel}, and of {@link GramianClassifier} for the model that it trains. An empty name omits an output
 * column.
 *
 * @param <S> the stage itself, which setters return
 */
public interface GramianParams<S> extends Params {
    /** Column of images: bytes (binary) or paths (string) in any file system reachable from executors. */
    default Param<String> inputCol() {
        return new Param<>(uid(), "inputCol", "column of images: bytes (binary) or paths (string)", String.class);
    }

    default S setInputCol(String column) {
        return with(inputCol(), column);
    }

    /** Output column of the index of the predicted class. */
    default Param<String> predictionCol() {
        return new Param<>(
                uid(), "predictionCol", "column for the index of the predicted class, a double", String.class);
    }

    default S setPredictionCol(String column) {
        return with(predictionCol(), column);
    }

    /** Output column of the name of the predicted class. */
    default Param<String> classCol() {
        return new Param<>(uid(), "classCol", "column for the name of the predicted class, a string", String.class);
    }

    default S setClassCol(String column) {
        return with(classCol(), column);
    }

    /** Output column of the probabilities. */
    default Param<String> probabilityCol() {
        return new Param<>(
                uid(), "probabilityCol", "column for the probabilities of all classes, a vector", String.class);
    }

    default S setProbabilityCol(String column) {
        return with(probabilityCol(), column);
    }

    /** Output column of the descriptors, the outputs of the pooling. */
    default Param<String> descriptorCol() {
        return new Param<>(uid(), "descriptorCol", "column for the descriptor, a vector", String.class);
    }

    default S setDescriptorCol(String column) {
        return with(descriptorCol(), column);
    }

    /** Output column of errors. */
    default Param<String> errorCol() {
        return new Param<>(uid(), "errorCol", "column for the error of an unreadable image", String.class);
    }

    default S setErrorCol(String column) {
        return with(errorCol(), column);
    }

    /** Output column of the kinds of errors. */
    default Param<String> errorKindCol() {
        return new Param<>(uid(), "errorKindCol", "column for the kind of that error, a keyword", String.class);
    }

    default S setErrorKindCol(String column) {
        return with(errorKindCol(), column);
    }

    /** Device of the executors. */
    default Param<String> device() {
        return new Param<>(
                uid(),
                "device",
                "cpu, cuda, cuda:<number>, or auto: the GPU that Spark assigned to the task, or the CPU without one",
                String.class);
    }

    default S setDevice(String name) {
        return with(device(), name);
    }

    /** Sets a parameter and returns this stage. */
    @SuppressWarnings("unchecked") // a stage names itself as S
    default <T> S with(Param<T> parameter, T value) {
        set(parameter, value);
        return (S) this;
    }

    /** Sets the defaults of these parameters. */
    default void setDefaults() {
        setDefault(inputCol(), "content"); // the name of Spark's data source binaryFile
        setDefault(predictionCol(), "prediction");
        setDefault(classCol(), "predictedClass");
        setDefault(probabilityCol(), "probability");
        setDefault(descriptorCol(), "");
        setDefault(errorCol(), "error");
        setDefault(errorKindCol(), "");
        setDefault(device(), "auto");
    }

    /** Returns the names of the output columns, some of them empty. */
    default List<String> outputCols() {
        return List.of(
                getOrDefault(predictionCol()),
                getOrDefault(classCol()),
                getOrDefault(probabilityCol()),
                getOrDefault(descriptorCol()),
                getOrDefault(errorCol()),
                getOrDefault(errorKindCol()));
    }
}
