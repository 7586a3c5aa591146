package org.gramian.spark.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.sql.Row;
import org.gramian.image.ImageSource;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;
import org.gramian.model.Prediction;

/** Results of {@code gramian predict} and {@code gramian embed} on one machine, which Spark must equal. */
public final class OneMachine {
    private OneMachine() {}

    /** Returns the result of each image by file name. */
    public static Map<String, ImageResult> predict(Path model, List<Path> images) throws IOException {
        Map<String, ImageResult> results = new TreeMap<>();
        try (Classifier classifier = Classifier.load(model)) {
            classifier.run(
                    images.stream().map(ImageSource::of).toList(),
                    classifier.predicting(),
                    (index, result) -> results.put(name(images.get(index)), result));
        }
        return results;
    }

    /** Returns the descriptor of each readable image by file name. */
    public static Map<String, float[]> describe(Path model, List<Path> images) throws IOException {
        Map<String, float[]> descriptors = new TreeMap<>();
        try (Classifier classifier = Classifier.load(model)) {
            classifier.run(
                    images.stream().map(ImageSource::of).toList(), Set.of(Engine.Rows.DESCRIPTORS), (index, result) -> {
                        if (result instanceof ImageResult.Computed computed) {
                            descriptors.put(name(images.get(index)), computed.descriptor());
                        }
                    });
        }
        return descriptors;
    }

    /** Asserts that rows of {@link org.gramian.spark.GramianModel} with the column {@code path} have the expected results. */
    public static void assertSame(List<Row> rows, Map<String, ImageResult> expected) {
        assertSame(rows, expected, SmallModel.TEMPERATURE);
    }

    /** Asserts the same for a model with a temperature. */
    public static void assertSame(List<Row> rows, Map<String, ImageResult> expected, double temperature) {
        assertThat(rows.stream().map(row -> name(row.getAs("path"))))
                .containsExactlyInAnyOrderElementsOf(expected.keySet());
        for (Row row : rows) {
            switch (Objects.requireNonNull(expected.get(name(row.getAs("path"))))) {
                case ImageResult.Failed(var _, String reason) -> {
                    assertThat(row.<String>getAs("error")).isEqualTo(reason);
                    assertThat(row.<Object>getAs("prediction")).isNull();
                    assertThat(row.<Object>getAs("predictedClass")).isNull();
                    assertThat(row.<Object>getAs("probability")).isNull();
                }
                case ImageResult.Computed computed -> {
                    Prediction prediction = computed.prediction().orElseThrow();
                    assertThat(row.<String>getAs("error")).isNull();
                    assertThat(row.<Double>getAs("prediction"))
                            .isEqualTo(prediction.logits().top());
                    assertThat(row.<String>getAs("predictedClass"))
                            .isEqualTo(prediction.best().name());
                    assertThat(row.<Vector>getAs("probability").toArray())
                            .containsExactly(prediction.logits().probabilities(temperature), within(1e-5));
                }
            }
        }
    }

    /** Returns the last part of a path or URI. */
    public static String name(Object path) {
        String text = path.toString();
        return text.substring(text.lastIndexOf('/') + 1);
    }
}
