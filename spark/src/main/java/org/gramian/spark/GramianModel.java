package org.gramian.spark;

import static org.apache.spark.sql.functions.col;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.spark.ml.Model;
import org.apache.spark.ml.attribute.NominalAttribute;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.util.DefaultParamsReader;
import org.apache.spark.ml.util.DefaultParamsWriter;
import org.apache.spark.ml.util.Identifiable;
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
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.gramian.model.Engine;
import org.gramian.spark.executor.ImageColumn;
import org.gramian.spark.executor.ModelContent;
import org.gramian.spark.executor.PartitionScoring;
import org.gramian.spark.executor.TaskResources;
import org.jspecify.annotations.Nullable;

/**
 * Classifies a column of images with a trained model, or computes their descriptors.
 *
 * <pre>{@code
 * Dataset<Row> images = spark.read().format("binaryFile").load("hdfs:///photos");
 * GramianModel model = GramianModel.fromFile("hdfs:///models/model.safetensors");
 * model.transform(images).drop("content").write().parquet("hdfs:///predictions");
 * }</pre>
 *
 * <p>Each row gets index and name of the predicted class and the probabilities of all {@link #classes}; an unreadable image gets
 * null in these columns and its error, and does not fail the job. Classes, errors and probabilities are those of {@code gramian
 * predict}. {@link #describing} makes a featurizer for Spark's own classifiers, clustering or search; most of their stages need rows
 * with an error filtered out.
 *
 * <p>Saved in the format of Spark, with the model file next to the parameters.
 */
public final class GramianModel extends Model<GramianModel> implements GramianParams<GramianModel>, MLWritable {
    /** Name of the model file in a saved stage, which the command line can read. */
    private static final String FILE = "model.safetensors";

    private final String uid;
    private final transient @Nullable ModelContent model;

    GramianModel(String uid, ModelContent model) {
        this.uid = uid;
        this.model = model;
        setDefaults();
    }

    /**
     * Creates a stage from a model file of {@code gramian train}.
     *
     * @param path in any Hadoop file system
     * @throws org.gramian.model.ModelFileException if it is not a usable model
     */
    public static GramianModel fromFile(String path) throws IOException {
        return of(ModelContent.read(path, SparkSession.active()));
    }

    /** Creates a stage from a model file that has been read. */
    public static GramianModel of(ModelContent content) {
        return new GramianModel(Identifiable.randomUID("gramianModel"), content);
    }

    /** Loads what {@link #save} saved. */
    public static GramianModel load(String path) {
        return read().load(path);
    }

    /** Omits predictions and appends the descriptors instead: vectors {@code [d]}, the means over the crops of an image. */
    public GramianModel describing(String column) {
        return setPredictionCol("").setClassCol("").setProbabilityCol("").setDescriptorCol(column);
    }

    /** Returns the names of the classes, in the order of indices and probabilities. */
    public List<String> classes() {
        return model().classes();
    }

    private ModelContent model() {
        if (model == null) {
            throw new IllegalStateException("a stage deserialized by Java has no model; use save and load instead");
        }
        return model;
    }

    @Override
    public String uid() {
        return uid;
    }

    @Override
    public Dataset<Row> transform(Dataset<?> dataset) {
        StructType schema = transformSchema(dataset.schema());
        List<String> names = outputCols();
        Set<Engine.Rows> wanted = EnumSet.noneOf(Engine.Rows.class);
        if (!names.get(PartitionScoring.DESCRIPTOR).isEmpty()) {
            wanted.add(Engine.Rows.DESCRIPTORS);
        }
        if (wanted.isEmpty()
                || names.stream().limit(PartitionScoring.DESCRIPTOR).anyMatch(name -> !name.isEmpty())) {
            wanted.add(Engine.Rows.SCORES);
        }
        PartitionScoring scoring = new PartitionScoring(
                model().share(dataset.sparkSession().sparkContext()),
                ImageColumn.of(dataset.schema().fieldIndex(getOrDefault(inputCol())), dataset.sparkSession()),
                wanted,
                getOrDefault(device()));
        // By position: names may be duplicate. mapPartitions drops metadata, which is added afterwards.
        StructType scored = new StructType();
        List<Column> columns = new ArrayList<>();
        int inputs = dataset.schema().size();
        for (int i = 0; i < inputs + names.size(); i++) {
            StructField input = i < inputs ? dataset.schema().apply(i) : null;
            scored = input == null
                    ? scored.add("c" + i, PartitionScoring.TYPES.get(i - inputs))
                    : scored.add("c" + i, input.dataType(), input.nullable());
            if (input != null || !names.get(i - inputs).isEmpty()) {
                StructField field = schema.apply(columns.size());
                columns.add(col("c" + i).as(field.name(), field.metadata()));
            }
        }
        return dataset.toDF().mapPartitions(scoring, Encoders.row(scored)).select(columns.toArray(Column[]::new));
    }

    /**
     * Returns the schema with the output columns; the metadata of the indices has the class names, for {@code IndexToString}.
     *
     * @throws IllegalArgumentException if the column of images is missing or has a wrong type, an output column exists already, or
     *     the name of the device is invalid
     */
    @Override
    public StructType transformSchema(StructType schema) {
        StructType appended = appended(schema, this);
        String column = getOrDefault(predictionCol());
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

    /** Returns a schema with the output columns of a stage. */
    static StructType appended(StructType schema, GramianParams<?> stage) {
        TaskResources.requireDeviceName("device", stage.getOrDefault(stage.device()));
        requireImages(schema, stage.getOrDefault(stage.inputCol()));
        StructType appended = schema;
        for (int i = 0; i < PartitionScoring.TYPES.size(); i++) {
            String name = stage.outputCols().get(i);
            appended = name.isEmpty() ? appended : ImageColumn.appended(appended, name, PartitionScoring.TYPES.get(i));
        }
        return appended;
    }

    private static void requireImages(StructType schema, String name) {
        List<String> names = Arrays.asList(schema.fieldNames());
        if (!names.contains(name)) {
            throw new IllegalArgumentException("expected images in the column '" + name + "', found the columns "
                    + String.join(", ", names) + "; set it with setInputCol (--column on the command line)");
        }
        DataType type = schema.apply(name).dataType();
        if (!type.equals(DataTypes.BinaryType) && !type.equals(DataTypes.StringType)) {
            throw new IllegalArgumentException("expected images in the column '" + name
                    + "' as binary (their bytes) or string (their paths), found " + type.simpleString());
        }
    }

    @Override
    public GramianModel copy(ParamMap extra) {
        return copyValues(new GramianModel(uid, model()), extra).setParent(parent());
    }

    @Override
    public MLWriter write() {
        return new MLWriter() {
            @Override
            public void saveImpl(String folder) {
                DefaultParamsWriter.saveMetadata(GramianModel.this, folder, sparkSession());
                Path file = new Path(folder, FILE);
                try (OutputStream out = file.getFileSystem(
                                sparkSession().sessionState().newHadoopConf())
                        .create(file)) {
                    out.write(model().bytes());
                } catch (IOException failed) {
                    throw new UncheckedIOException(failed);
                }
            }
        };
    }

    /** Loads what {@link #write} saved. */
    public static MLReader<GramianModel> read() {
        return new MLReader<>() {
            @Override
            public GramianModel load(String folder) {
                DefaultParamsReader.Metadata metadata =
                        DefaultParamsReader.loadMetadata(folder, sparkSession(), GramianModel.class.getName());
                try {
                    String file = new Path(folder, FILE).toString();
                    GramianModel stage = new GramianModel(metadata.uid(), ModelContent.read(file, sparkSession()));
                    metadata.getAndSetParams(stage, scala.Option.empty());
                    return stage;
                } catch (IOException failed) {
                    throw new UncheckedIOException(failed);
                }
            }
        };
    }
}
