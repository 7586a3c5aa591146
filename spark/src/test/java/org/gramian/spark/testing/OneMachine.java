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
import org.gramian.image.batch.ImageSource;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;
import org.gramian.model.Prediction;

/** What {@code gramian predict} and {@code gramian embed} find on one machine, which Spark must find too. */
public final class OneMachine {
    private OneMachine() {}

    /** What comes of each image, by its file name. */
    public static Map<String, ImageResult> predict(Path model, List<Path> images) throws IOException {
        Map<String, ImageResult> results = new TreeMap<>();
        try (Classifier classifier = Classifier.load(model)) {
            List<ImageResult> all = classifier.predict(images);
            for (int i = 0; i < images.size(); i++) {
                results.put(name(images.get(i)), all.get(i));
            }
        }
        return results;
    }

    /** The descriptor of each image that can be read, by its file name. */
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

    /** Holds rows of {@link org.gramian.spark.GramianModel}, with the column {@code path}, against what is found here. */
    public static void assertSame(List<Row> rows, Map<String, ImageResult> expected) {
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
                    Prediction answer = computed.prediction().orElseThrow();
                    assertThat(row.<String>getAs("error")).isNull();
                    assertThat(row.<Double>getAs("prediction"))
                            .isEqualTo(answer.logits().top());
                    assertThat(row.<String>getAs("predictedClass"))
                            .isEqualTo(answer.best().name());
                    assertThat(row.<Vector>getAs("probability").toArray())
                            .containsExactly(answer.logits().probabilities(SmallModel.TEMPERATURE), within(1e-5));
                }
            }
        }
    }

    /** The last part of a path or address. */
    public static String name(Object path) {
        String text = path.toString();
        return text.substring(text.lastIndexOf('/') + 1);
    }
}
