package org.gramian.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineModel;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.ml.classification.LogisticRegression;
import org.apache.spark.ml.feature.IndexToString;
import org.apache.spark.ml.feature.SQLTransformer;
import org.apache.spark.ml.feature.StringIndexer;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.gramian.model.Answer;
import org.gramian.model.ModelFileException;
import org.gramian.model.Outcome;
import org.gramian.spark.testing.OneMachine;
import org.gramian.spark.testing.SmallModel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GramianModelTest {
    private static final int PICTURES = 60;
    private static final int BROKEN = 9;

    @TempDir
    private static Path folder;

    private static SparkSession spark;
    private static Path file;
    private static List<Path> pictures;

    @BeforeAll
    static void begin() throws IOException {
        spark = SparkSession.builder()
                .master("local[2]")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.ui.enabled", "false")
                .config("spark.sql.shuffle.partitions", "2")
                .getOrCreate();
        file = SmallModel.write(folder.resolve("model.safetensors"), 5);
        pictures = SmallModel.pictures(folder.resolve("pictures"), PICTURES, BROKEN);
    }

    @AfterAll
    static void end() {
        spark.stop();
    }

    private static Dataset<Row> bytes() {
        return spark.read()
                .format("binaryFile")
                .load(folder.resolve("pictures").toString())
                .repartition(3);
    }

    private static Dataset<Row> paths() {
        return spark.createDataset(pictures.stream().map(Path::toString).toList(), Encoders.STRING())
                .toDF("path")
                .repartition(3);
    }

    private static void assertSameAsOnOneMachine(Dataset<Row> scored) throws IOException {
        Map<String, Outcome> expected = OneMachine.predict(file, pictures);
        List<Row> rows = scored.collectAsList();
        assertThat(rows.stream().map(row -> OneMachine.name(row.getAs("path"))))
                .containsExactlyInAnyOrderElementsOf(expected.keySet());
        for (Row row : rows) {
            switch (expected.get(OneMachine.name(row.getAs("path")))) {
                case Outcome.Failed(String reason) -> {
                    assertThat(row.<String>getAs("error")).isEqualTo(reason);
                    assertThat(row.<Object>getAs("prediction")).isNull();
                    assertThat(row.<Object>getAs("predictedClass")).isNull();
                    assertThat(row.<Object>getAs("probability")).isNull();
                }
                case Outcome.Answered(Answer answer) -> {
                    assertThat(row.<String>getAs("error")).isNull();
                    assertThat(row.<String>getAs("predictedClass"))
                            .isEqualTo(answer.best().name())
                            .isEqualTo(SmallModel.CLASSES.get((int) row.<Double>getAs("prediction")
                                    .doubleValue()));
                    assertThat(row.<Vector>getAs("probability").toArray())
                            .containsExactly(answer.logits().probabilities(0.7), within(1e-5));
                }
            }
        }
    }

    @Test
    void bytesAndPathsGiveTheRowsClassesErrorsAndProbabilitiesOfOneMachine() throws IOException {
        GramianModel model = GramianModel.fromFile(file.toString());

        assertSameAsOnOneMachine(model.transform(bytes()));
        assertSameAsOnOneMachine(model.copy(new org.apache.spark.ml.param.ParamMap())
                .setInputCol("path")
                .transform(paths()));
        assertThat(model.getInputCol()).isEqualTo("content");
    }
}
