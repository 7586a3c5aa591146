package org.gramian.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineModel;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.ml.evaluation.MulticlassClassificationEvaluator;
import org.apache.spark.ml.feature.StringIndexer;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;
import org.gramian.spark.testing.LocalSpark;
import org.gramian.spark.testing.SmallModel;
import org.gramian.spark.testing.Stripes;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GramianClassifierTest {
    @TempDir
    private static Path folder;

    private static SparkSession spark;

    @BeforeAll
    static void begin() {
        spark = LocalSpark.session();
    }

    private static GramianClassifier classifier() {
        return new GramianClassifier()
                .setBackbone("filters")
                .setPooling("conv:4/rbf/spd:3/relu/triu/root/l2")
                .setSettings(
                        "stage1.epochs=8",
                        "data.validation=0",
                        "stage1.schedule=constant",
                        "data.crops=center:48",
                        "optimizer.batch=8");
    }

    /** Bytes of images with the index that Spark's own stage gives their class. */
    @Test
    void trainsInAPipelineWithStagesOfSpark() throws IOException {
        List<Row> rows = new ArrayList<>();
        List<Path> images = Stripes.write(folder.resolve("stripes"), 36);
        for (int i = 0; i < images.size(); i++) {
            rows.add(RowFactory.create(
                    images.get(i).toString(),
                    Files.readAllBytes(images.get(i)),
                    SmallModel.CLASSES.get(Stripes.label(i))));
        }
        Dataset<Row> table =
                spark.createDataFrame(rows, StructType.fromDDL("path STRING, content BINARY, material STRING"));
        StringIndexer indexer = new StringIndexer().setInputCol("material").setOutputCol("label");
        PipelineModel fitted = new Pipeline()
                .setStages(new PipelineStage[] {indexer, classifier()})
                .fit(table);
        String saved = folder.resolve("pipeline").toString();
        fitted.save(saved);
        Dataset<Row> answers = PipelineModel.load(saved).transform(table);

        assertThat(new MulticlassClassificationEvaluator()
                        .setMetricName("accuracy")
                        .evaluate(answers))
                .isGreaterThan(0.6);
        assertThat(answers.where("material = predictedClass").count())
                .isEqualTo(answers.where("label = prediction").count());
        GramianModel model = (GramianModel) fitted.stages()[1];
        assertThat(model.classes()).containsExactlyInAnyOrderElementsOf(SmallModel.CLASSES);
        assertThat(model.copy(new ParamMap()).parent()).isSameAs(model.parent()).isInstanceOf(GramianClassifier.class);
    }

    @Test
    void parametersAreSavedAndCopied() throws IOException {
        GramianClassifier classifier =
                classifier().setLabelCol("material").setSeed(7).setClassifier("softmax");
        String saved = folder.resolve("classifier").toString();
        classifier.write().overwrite().save(saved);

        for (GramianClassifier same : List.of(GramianClassifier.load(saved), classifier.copy(new ParamMap()))) {
            assertThat(same.uid()).isEqualTo(classifier.uid());
            assertThat(same.getOrDefault(same.labelCol())).isEqualTo("material");
            assertThat(same.requested()).isEqualTo(classifier.requested());
        }
        assertThat(classifier.requested().values()).hasSize(9);
        assertThat(classifier.isSet(classifier.validationIndicatorCol())).isFalse();
    }

    @Test
    void schemaHasTheNamedColumnsOfTheModel() {
        assertThat(new GramianClassifier()
                        .setInputCol("file")
                        .setNameCol("file")
                        .setPredictionCol("index")
                        .setProbabilityCol("")
                        .setErrorCol("reason")
                        .transformSchema(StructType.fromDDL("file STRING, label STRING, error STRING"))
                        .fieldNames())
                .containsExactly("file", "label", "error", "index", "predictedClass", "reason");
    }

    @Test
    void invalidColumnsAreRejectedByTransformSchema() {
        StructType noLabel = StructType.fromDDL("content BINARY, path STRING");
        StructType truthAsLabel = noLabel.add("label", "boolean");
        StructType textValidation = noLabel.add("label", "string").add("validation", "string");
        GramianClassifier classifier = classifier().setValidationIndicatorCol("validation");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> classifier().transformSchema(noLabel))
                .withMessageContainingAll("'label'", "content, path");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> classifier().transformSchema(truthAsLabel))
                .withMessageContainingAll("'label'", "string", "boolean");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> classifier.transformSchema(textValidation))
                .withMessageContainingAll("'validation'", "boolean");
    }
}
