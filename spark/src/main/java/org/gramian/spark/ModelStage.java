package org.gramian.spark;

import static org.apache.spark.sql.functions.col;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.Path;
import org.apache.spark.ml.Model;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.param.Params;
import org.apache.spark.ml.util.DefaultParamsReader;
import org.apache.spark.ml.util.DefaultParamsWriter;
import org.apache.spark.ml.util.MLReader;
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
import org.gramian.spark.executor.ImageColumn;
import org.gramian.spark.executor.ModelContent;
import org.gramian.spark.executor.Output;
import org.gramian.spark.executor.PartitionScoring;
import org.gramian.spark.executor.TaskResources;
import org.jspecify.annotations.Nullable;

/**
 * Stage that applies a trained model to a column of images. Saved in the format of Spark, with the model file next to the parameters.
 *
 * @param <S> the stage itself, which setters return
 */
abstract class ModelStage<S extends ModelStage<S>> extends Model<S> implements ImageParams<S>, MLWritable {
    /** Name of the model file in a saved stage, which the command line can read. */
    private static final String MODEL = "model.safetensors";

    private final String uid;
    private final transient @Nullable ModelContent content;

    ModelStage(String uid, ModelContent content) {
        this.uid = uid;
        this.content = content;
        setDefaults(this);
        setDefault(errorKindCol(), "");
    }

    /** Creates a parameter; those of one stage with the same name are equal. */
    static Param<String> text(Params stage, String name, String meaning) {
        return new Param<>(stage.uid(), name, meaning, String.class);
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // a stage names itself as S
    static <S, T> S with(Params stage, Param<T> parameter, T value) {
        stage.set(parameter, value);
        return (S) stage;
    }

    static void setDefaults(ImageParams<?> stage) {
        stage.setDefault(stage.inputCol(), "content"); // the name of Spark's data source binaryFile
        stage.setDefault(stage.errorCol(), "error");
        stage.setDefault(stage.device(), "auto");
        if (stage instanceof PredictionParams<?> predicting) {
            stage.setDefault(predicting.predictionCol(), "prediction");
            stage.setDefault(predicting.classCol(), "predictedClass");
            stage.setDefault(predicting.probabilityCol(), "probability");
        }
    }

    /** Returns the appended outputs with the names of their columns, some of them empty. */
    abstract SequencedMap<Output, String> outputs();

    /** Creates a stage with the same model and no parameters set. */
    abstract S create(String uid);

    @Override
    public String uid() {
        return uid;
    }

    /** Output column of the kinds of errors. */
    public Param<String> errorKindCol() {
        return text(this, "errorKindCol", "output column for the kind of that error, a keyword; empty for none");
    }

    public String getErrorKindCol() {
        return getOrDefault(errorKindCol());
    }

    public S setErrorKindCol(String column) {
        return with(this, errorKindCol(), column);
    }

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
        PartitionScoring scoring = new PartitionScoring(
                content().share(session.sparkContext()),
                ImageColumn.of(dataset.schema().fieldIndex(getInputCol()), session),
                outputs().entrySet().stream()
                        .filter(output -> !output.getValue().isEmpty())
                        .map(Map.Entry::getKey)
                        .toList(),
                getDevice());
        return withMetadata(dataset.toDF().mapPartitions(scoring, Encoders.row(schema)), schema);
    }

    /** Adds the metadata of a schema to columns, which {@code mapPartitions} drops. */
    private static Dataset<Row> withMetadata(Dataset<Row> rows, StructType schema) {
        // by position: names may be duplicate
        String[] places =
                IntStream.range(0, schema.size()).mapToObj(i -> "c" + i).toArray(String[]::new);
        return rows.toDF(places)
                .select(IntStream.range(0, schema.size())
                        .mapToObj(i -> col(places[i])
                                .as(schema.apply(i).name(), schema.apply(i).metadata()))
                        .toArray(Column[]::new));
    }

    /**
     * Returns the schema with the output columns.
     *
     * @throws IllegalArgumentException if the column of images is missing or has a wrong type, an output column exists already, or
     *     the name of the device is invalid
     */
    @Override
    public StructType transformSchema(StructType schema) {
        TaskResources.requireDeviceName("device", getDevice());
        return appended(schema, getInputCol(), outputs());
    }

    /** Returns a schema with the output columns that have a name. */
    static StructType appended(StructType schema, String images, SequencedMap<Output, String> outputs) {
        requireImages(schema, images);
        List<StructField> fields = new ArrayList<>(Arrays.asList(schema.fields()));
        // column names are case-insensitive in Spark
        Set<String> taken = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        taken.addAll(Arrays.asList(schema.fieldNames()));
        outputs.forEach((output, name) -> {
            if (name.isEmpty()) {
                return;
            }
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
        return copyValues(create(uid), extra).setParent(parent());
    }

    @Override
    public MLWriter write() {
        return new MLWriter() {
            @Override
            public void saveImpl(String folder) {
                DefaultParamsWriter.saveMetadata(ModelStage.this, folder, sparkSession());
                Path file = new Path(folder, MODEL);
                try (OutputStream out = file.getFileSystem(
                                sparkSession().sessionState().newHadoopConf())
                        .create(file)) {
                    out.write(content().bytes());
                } catch (IOException failed) {
                    throw new UncheckedIOException(failed);
                }
            }
        };
    }

    /**
     * Returns a reader of what {@link #write} saved.
     *
     * @param create creates a stage from a uid and a model
     */
    static <S extends ModelStage<S>> MLReader<S> reader(Class<S> type, BiFunction<String, ModelContent, S> create) {
        return new MLReader<>() {
            @Override
            public S load(String folder) {
                DefaultParamsReader.Metadata metadata =
                        DefaultParamsReader.loadMetadata(folder, sparkSession(), type.getName());
                try {
                    String file = new Path(folder, MODEL).toString();
                    S stage = create.apply(metadata.uid(), ModelContent.read(file, sparkSession()));
                    metadata.getAndSetParams(stage, scala.Option.empty());
                    return stage;
                } catch (IOException failed) {
                    throw new UncheckedIOException(failed);
                }
            }
        };
    }
}
