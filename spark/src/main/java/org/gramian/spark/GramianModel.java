package org.gramian.spark;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.apache.spark.ml.attribute.NominalAttribute;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.util.Identifiable;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.gramian.spark.executor.ModelContent;
import org.gramian.spark.executor.Output;

/**
 * Classifies a column of images with a trained model.
 *
 * <pre>{@code
 * Dataset<Row> images = spark.read().format("binaryFile").load("hdfs:///photos");
 * GramianModel model = GramianModel.fromFile("hdfs:///models/model.safetensors");
 * model.transform(images).drop("content").write().parquet("hdfs:///predictions");
 * }</pre>
 *
 * <p>Each row gets index and name of the predicted class and the probabilities of all {@link #classes}; an unreadable image gets
 * null in these columns and its error, and does not fail the job. An empty column name omits a column, as by default for
 * descriptors, which are thousands of numbers each.
 *
 * <p>Classes, errors and probabilities are those of {@code gramian predict}.
 */
public final class GramianModel extends ModelStage<GramianModel> implements PredictionParams<GramianModel> {
    GramianModel(String uid, ModelContent content) {
        super(uid, content);
        setDefault(descriptorCol(), "");
    }

    /**
     * Creates a stage from a model file of {@code gramian train}.
     *
     * @param path in any Hadoop file system
     * @throws org.gramian.model.ModelFileException if it is not a usable model
     */
    public static GramianModel fromFile(String path) throws IOException {
        return new GramianModel(Identifiable.randomUID("gramianModel"), ModelContent.read(path, SparkSession.active()));
    }

    /** Loads what {@link #write} saved. */
    public static MLReader<GramianModel> read() {
        return reader(GramianModel.class, GramianModel::new);
    }

    /** Loads what {@link #save} saved. */
    public static GramianModel load(String path) {
        return read().load(path);
    }

    /** Returns the names of the classes, in the order of indices and probabilities. */
    public List<String> classes() {
        return content().header().card().classes();
    }

    /** Output column of the descriptors. */
    public Param<String> descriptorCol() {
        return text(this, "descriptorCol", "output column for the descriptor, a vector; empty for none");
    }

    public String getDescriptorCol() {
        return getOrDefault(descriptorCol());
    }

    public GramianModel setDescriptorCol(String column) {
        return with(this, descriptorCol(), column);
    }

    /** Returns the schema with the output columns; the metadata of the indices has the class names, for {@code IndexToString}. */
    @Override
    public StructType transformSchema(StructType schema) {
        StructType appended = super.transformSchema(schema);
        String column = getPredictionCol();
        if (column.isEmpty()) {
            return appended;
        }
        Metadata names = NominalAttribute.defaultAttr()
                .withName(column)
                .withValues(classes().toArray(String[]::new))
                .toMetadata();
        StructField[] fields = appended.fields().clone();
        fields[appended.fieldIndex(column)] = new StructField(column, DataTypes.DoubleType, true, names);
        return new StructType(fields);
    }

    @Override
    SequencedMap<Output, String> outputs() {
        SequencedMap<Output, String> outputs = new LinkedHashMap<>();
        outputs.put(Output.PREDICTION, getPredictionCol());
        outputs.put(Output.CLASS, getClassCol());
        outputs.put(Output.PROBABILITY, getProbabilityCol());
        outputs.put(Output.DESCRIPTOR, getDescriptorCol());
        outputs.put(Output.ERROR, getErrorCol());
        outputs.put(Output.ERROR_KIND, getErrorKindCol());
        return outputs;
    }

    @Override
    GramianModel create(String uid) {
        return new GramianModel(uid, content());
    }
}
