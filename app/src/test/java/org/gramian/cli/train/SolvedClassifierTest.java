package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.gramian.cli.Run;
import org.gramian.cli.TinyTraining;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code gramian train --classifier} with a classifier that is solved for, and what the other commands make of it. */
final class SolvedClassifierTest extends TrainFixture {
    private Run train(Path out, String... more) {
        List<String> line = new ArrayList<>(
                List.of("train", tiny.images().root().toString(), "--out", out.toString(), "--crops", "center:32"));
        line.addAll(tiny.context());
        line.addAll(List.of("--backbone", "filters"));
        line.addAll(List.of(more));
        return Run.of(line.toArray());
    }

    @ParameterizedTest
    @ValueSource(strings = {"svm", "mean", "lda"})
    void solvedModelIsUsableAndReproducible(String classifier) throws IOException {
        String[] options = {"--classifier", classifier, "--pooling", "pca:8/covariance/log/triu"};
        Path out = root.resolve("run");
        Run run = train(out, options).done();
        assertThat(run.err()).has(facts("classifier", classifier)).doesNotContain("network.classifier=", "epoch");
        assertThat(TinyTraining.names(out))
                .contains("model.safetensors", "evaluation.json", "summary.txt")
                .doesNotContain("history.csv", "checkpoint.safetensors");
        Path model = out.resolve("model.safetensors");
        assertThat(Run.of("show", model).done().out()).containsPattern("classifier +" + classifier);
        Path again = root.resolve("again");
        train(again, options).done();
        assertThat(again.resolve("model.safetensors")).hasSameBinaryContentAs(model);
    }
}
