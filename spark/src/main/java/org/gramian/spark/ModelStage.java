package org.gramian.spark;

import static org.apache.spark.sql.functions.col;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.apache.spark.ml.Model;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.util.MLWritable;
import org.apache.spark.ml.util.MLWriter;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import org.gramian.spark.executor.ImageColumn;
import org.gramian.spark.executor.ModelContent;
import org.gramian.spark.executor.Output;
import org.gramian.spark.executor.PartitionScoring;
import org.gramian.spark.executor.TaskResources;
import org.jspecify.annotations.Nullable;

/**
 * What the stages have in common that apply a trained model to a column of images: parameters for the column, for errors and the
 * device; the model's file as part of what is saved.
 *
 * @param <S> the stage itself, which setters return
 */
abstract class ModelStage<S extends ModelStage<S>> extends Model<S> implements MLWritable {
    private final String uid;
    private final transient @Nullable ModelContent content;
    private final Param<String> inputCol;
    private final Param<String> errorCol;
    private final Param<String> errorKindCol;
    private final Param<String> device;

    ModelStage(String uid, ModelContent content) {
        this.uid = uid;
        this.content = content;
        // Not where they are declared: a parameter asks its stage for the uid.
        inputCol = text(
                "inputCol",
                "column of images: bytes (binary), or paths (string) in any file system reachable from executors");
        errorCol = text("errorCol", "output column for the error of an unreadable image, null otherwise");
        errorKindCol = text("errorKindCol", "output column for the kind of that error, a keyword; empty for none");
        device = text(
                "device",
                "device: cpu, cuda, cuda:<number>, or auto for the GPU that Spark assigned to the task and"
                        + " the CPU without one");
        // What Spark's data source binaryFile calls it.
        setDefault(inputCol, "content");
        setDefault(errorCol, "error");
        setDefault(errorKindCol, "");
        setDefault(device, "auto");
    }

    /** A parameter that holds a text. */
    final Param<String> text(String name, String meaning) {
        return new Param<>(uid, name, meaning, String.class);
    }

    /** What is appended, and the names of its columns. */
    abstract SequencedMap<Output, String> outputs();

    abstract S itself();

    /** The same stage with another uid and no parameters set. */
    abstract S again(String uid);

    @Override
    public String uid() {
        return uid;
    }

    /** The column that holds images. */
    public Param<String> inputCol() {
        return inputCol;
    }

    public String getInputCol() {
        return getOrDefault(inputCol);
    }

    public S setInputCol(String column) {
        set(inputCol, column);
        return itself();
    }

    /** The column for reasons. */
    public Param<String> errorCol() {
        return errorCol;
    }

    public String getErrorCol() {
        return getOrDefault(errorCol);
    }

    public S setErrorCol(String column) {
        set(errorCol, column);
        return itself();
    }

    /** The column for kinds of reasons. */
    public Param<String> errorKindCol() {
        return errorKindCol;
    }

    public String getErrorKindCol() {
        return getOrDefault(errorKindCol);
    }

    public S setErrorKindCol(String column) {
        set(errorKindCol, column);
        return itself();
    }

    /** Where the model computes. */
    public Param<String> device() {
        return device;
    }

    public String getDevice() {
        return getOrDefault(device);
    }

    public S setDevice(String name) {
        set(device, name);
        return itself();
    }

    /** The file of the model. */
    final ModelContent content() {
        if (content == null) {
            throw new IllegalStateException("a stage deserialized by Java has no model; use save and load instead");
        }
        return content;
    }

    @Override
    public Dataset<Row> transform(Dataset<?> dataset) {
        StructType schema = transformSchema(dataset.schema());
        SparkSession session = dataset.sparkSession();
        ImageColumn input = new ImageColumn(
                dataset.schema().fieldIndex(getInputCol()),
                new SerializableConfiguration(session.sessionState().newHadoopConf()));
        PartitionScoring scoring = new PartitionScoring(
                content().share(session.sparkContext()),
                input,
                List.copyOf(outputs().keySet()),
                getDevice());
        return described(dataset.toDF().mapPartitions(scoring, Encoders.row(schema)), schema);
    }

    /** Gives columns the metadata of a schema, which rows that a function returns do not have. */
    private static Dataset<Row> described(Dataset<Row> rows, StructType schema) {
        // By their places, since names may be there twice.
        String[] places =
                IntStream.range(0, schema.size()).mapToObj(i -> "c" + i).toArray(String[]::new);
        return rows.toDF(places)
                .select(IntStream.range(0, schema.size())
                        .mapToObj(i -> col(places[i])
                                .as(schema.apply(i).name(), schema.apply(i).metadata()))
                        .toArray(Column[]::new));
    }

    /**
     * What a table has afterwards.
     *
     * @throws IllegalArgumentException if there are no images in the column, a column that is appended is there already, or the
     *     device is no device's name
     */
    @Override
    public StructType transformSchema(StructType schema) {
        TaskResources.requireDeviceName("device", getDevice());
        return appended(schema, getInputCol(), outputs());
    }

    /** The schema of a table with what is appended to it. */
    static StructType appended(StructType schema, String images, SequencedMap<Output, String> outputs) {
        requireImages(schema, images);
        List<StructField> fields = new ArrayList<>(Arrays.asList(schema.fields()));
        // Spark does not tell large letters from small ones.
        Set<String> taken = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        taken.addAll(Arrays.asList(schema.fieldNames()));
        outputs.forEach((output, name) -> {
            if (!taken.add(name)) {
                throw new IllegalArgumentException("the column '" + name + "' for " + output
                        + " exists already; rename it, or choose another with the stage's parameters");
            }
            fields.add(DataTypes.createStructField(name, output.type(), true));
        });
        return new StructType(fields.toArray(StructField[]::new));
    }

    private static void requireImages(StructType schema, String name) {
        List<String> names = Arrays.asList(schema.fieldNames());
        if (!names.contains(name)) {
            throw new IllegalArgumentException("expected images in the column '" + name + "', found the columns "
                    + String.join(", ", names) + "; set it with setInputCol");
        }
        DataType type = schema.apply(name).dataType();
        if (!type.equals(DataTypes.BinaryType) && !type.equals(DataTypes.StringType)) {
            throw new IllegalArgumentException("expected images in the column '" + name
                    + "' as binary (their bytes) or string (their paths), found " + type.simpleString());
        }
    }

    @Override
    public S copy(ParamMap extra) {
        return copyValues(again(uid), extra).setParent(parent());
    }

    @Override
    public MLWriter write() {
        return new StageWriter(this);
    }
}
