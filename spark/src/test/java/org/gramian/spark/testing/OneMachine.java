package org.gramian.spark.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.sql.Row;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Answer;
import org.gramian.model.Engine;
import org.gramian.model.ModelFile;
import org.gramian.model.Outcome;
import org.gramian.model.RowSink;
import org.gramian.model.Scoring;
import org.gramian.tensor.Device;

/** What {@code gramian predict} and {@code gramian embed} find on one machine, which Spark must find too. */
public final class OneMachine {
    private OneMachine() {}

    /** What comes of each image, by its file name. */
    public static Map<String, Outcome> predict(Path model, List<Path> images) throws IOException {
        Map<String, Outcome> outcomes = new TreeMap<>();
        try (ModelFile.Stored stored = ModelFile.read(model, Device.CPU)) {
            run(stored, images, Engine.Rows.SCORES, new RowSink() {
                @Override
                public void rows(int sample, float[][] rows) {
                    outcomes.put(name(images.get(sample)), Outcome.of(rows, stored.card()));
                }

                @Override
                public void unreadable(int sample, Unreadable problem) {
                    outcomes.put(name(images.get(sample)), Outcome.of(problem));
                }
            });
        }
        return outcomes;
    }

    /** The descriptor of each image that can be read, by its file name. */
    public static Map<String, float[]> describe(Path model, List<Path> images) throws IOException {
        Map<String, float[]> descriptors = new TreeMap<>();
        try (ModelFile.Stored stored = ModelFile.read(model, Device.CPU)) {
            run(stored, images, Engine.Rows.DESCRIPTORS, new RowSink() {
                @Override
                public void rows(int sample, float[][] rows) {
                    descriptors.put(name(images.get(sample)), Scoring.mean(rows));
                }

                @Override
                public void unreadable(int sample, Unreadable problem) {}
            });
        }
        return descriptors;
    }

    private static void run(ModelFile.Stored stored, List<Path> images, Engine.Rows wanted, RowSink sink) {
        List<Sample> samples = images.stream()
                .map(path -> new Sample(path.toString(), 0, path))
                .toList();
        Scoring.ofFiles(Engine.of(stored.model()), stored.card(), images.size()).run(samples, wanted, sink, _ -> {});
    }

    /** Holds rows of {@link org.gramian.spark.GramianModel}, with the column {@code path}, against what is found here. */
    public static void assertSame(List<Row> rows, Map<String, Outcome> expected) {
        assertThat(rows.stream().map(row -> name(row.getAs("path"))))
                .containsExactlyInAnyOrderElementsOf(expected.keySet());
        for (Row row : rows) {
            switch (Objects.requireNonNull(expected.get(name(row.getAs("path"))))) {
                case Outcome.Failed(String reason) -> {
                    assertThat(row.<String>getAs("error")).isEqualTo(reason);
                    assertThat(row.<Object>getAs("prediction")).isNull();
                    assertThat(row.<Object>getAs("predictedClass")).isNull();
                    assertThat(row.<Object>getAs("probability")).isNull();
                }
                case Outcome.Answered(Answer answer) -> {
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
