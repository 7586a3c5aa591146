package org.gramian.spark;

import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.apache.spark.ml.param.Param;
import org.apache.spark.sql.types.StructType;
import org.gramian.spark.executor.Output;
import org.gramian.spark.train.TrainingColumns;

/** Column parameters of {@link GramianClassifier}: input columns and output columns of its model. */
abstract class ColumnStage extends TrainingStage {
    private final Param<String> inputCol;
    private final Param<String> nameCol;
    private final Param<String> labelCol;
    private final Param<String> validationIndicatorCol;
    private final Param<String> predictionCol;
    private final Param<String> classCol;
    private final Param<String> probabilityCol;
    private final Param<String> errorCol;

    ColumnStage(String uid) {
        super(uid);
        // Not where they are declared: a parameter asks its stage for the uid.
        inputCol = text("inputCol", "column of images: their bytes (binary) or paths (string)");
        nameCol = text("nameCol", "column of unique image names, which define the order");
        labelCol = text("labelCol", "column of labels: class names (string) or class indices (numbers)");
        validationIndicatorCol = text(
                "validationIndicatorCol",
                "column that marks the validation images (boolean); empty: a random fraction is used");
        predictionCol = text(
                "predictionCol",
                "the model's output column for the index of the predicted class, a double; empty for none");
        classCol = text(
                "classCol", "the model's output column for the name of the predicted class, a string; empty for none");
        probabilityCol = text(
                "probabilityCol",
                "the model's output column for the probabilities of all classes, a vector; empty for none");
        errorCol = text("errorCol", "the model's output column for the error of an unreadable image");
        setDefault(inputCol, "content");
        setDefault(nameCol, "path");
        setDefault(labelCol, "label");
        setDefault(validationIndicatorCol, "");
        setDefault(predictionCol, "prediction");
        setDefault(classCol, "predictedClass");
        setDefault(probabilityCol, "probability");
        setDefault(errorCol, "error");
    }

    /** Returns the input columns. */
    final TrainingColumns columns() {
        return new TrainingColumns(getInputCol(), getNameCol(), getLabelCol(), getValidationIndicatorCol());
    }

    /**
     * What the model will append.
     *
     * @throws IllegalArgumentException if a column that is learned from is missing, or one that is appended is there already
     */
    @Override
    public StructType transformSchema(StructType schema) {
        SequencedMap<Output, String> outputs = new LinkedHashMap<>();
        outputs.put(Output.PREDICTION, getPredictionCol());
        outputs.put(Output.CLASS, getClassCol());
        outputs.put(Output.PROBABILITY, getProbabilityCol());
        outputs.put(Output.ERROR, getErrorCol());
        outputs.values().removeIf(String::isEmpty);
        StructType appended = ModelStage.appended(schema, getInputCol(), outputs);
        columns().requireIn(schema);
        return appended;
    }

    /** The column that holds images. */
    public Param<String> inputCol() {
        return inputCol;
    }

    public String getInputCol() {
        return getOrDefault(inputCol);
    }

    public GramianClassifier setInputCol(String column) {
        set(inputCol, column);
        return itself();
    }

    /** The column of names. */
    public Param<String> nameCol() {
        return nameCol;
    }

    public String getNameCol() {
        return getOrDefault(nameCol);
    }

    public GramianClassifier setNameCol(String column) {
        set(nameCol, column);
        return itself();
    }

    /** The column of labels. */
    public Param<String> labelCol() {
        return labelCol;
    }

    public String getLabelCol() {
        return getOrDefault(labelCol);
    }

    public GramianClassifier setLabelCol(String column) {
        set(labelCol, column);
        return itself();
    }

    /** Column that marks validation images. */
    public Param<String> validationIndicatorCol() {
        return validationIndicatorCol;
    }

    public String getValidationIndicatorCol() {
        return getOrDefault(validationIndicatorCol);
    }

    public GramianClassifier setValidationIndicatorCol(String column) {
        set(validationIndicatorCol, column);
        return itself();
    }

    /** The column that the model writes indices of classes to. */
    public Param<String> predictionCol() {
        return predictionCol;
    }

    public String getPredictionCol() {
        return getOrDefault(predictionCol);
    }

    public GramianClassifier setPredictionCol(String column) {
        set(predictionCol, column);
        return itself();
    }

    /** The column that the model writes names of classes to. */
    public Param<String> classCol() {
        return classCol;
    }

    public String getClassCol() {
        return getOrDefault(classCol);
    }

    public GramianClassifier setClassCol(String column) {
        set(classCol, column);
        return itself();
    }

    /** The column that the model writes probabilities to. */
    public Param<String> probabilityCol() {
        return probabilityCol;
    }

    public String getProbabilityCol() {
        return getOrDefault(probabilityCol);
    }

    public GramianClassifier setProbabilityCol(String column) {
        set(probabilityCol, column);
        return itself();
    }

    /** The column that the model writes reasons to. */
    public Param<String> errorCol() {
        return errorCol;
    }

    public String getErrorCol() {
        return getOrDefault(errorCol);
    }

    public GramianClassifier setErrorCol(String column) {
        set(errorCol, column);
        return itself();
    }
}
