package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.cli.Run;
import org.gramian.cli.common.ExitCode;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.evaluate.compare.EvaluationFile;
import org.junit.jupiter.api.Test;

/** Review of labels after {@code gramian train}, and {@code --labels}. */
final class LabelReviewCommandTest extends TrainFixture {
    private Run train(Path to, Object... more) {
        List<String> line = tiny.begin(to, "--classifier", "lda", "--pooling", "average");
        Stream.of(more).map(Object::toString).forEach(line::add);
        return Run.of(line.toArray());
    }

    private Path labels(String text) throws IOException {
        return Files.writeString(root.resolve("labels.csv"), text);
    }

    @Test
    void everyImageIsReviewedAndEditsAreKept() throws IOException {
        train(out).done();
        List<String> rows = Files.readAllLines(out.resolve("review.csv"));
        assertThat(rows).hasSize(19).first().isEqualTo("path,label,suggested,suspicion");
        assertThat(rows.subList(1, 19)).allMatch(row -> row.matches("\\w+/\\d[.]bmp,\\w+,\\w+,[01][.]\\d{4}"));
        assertThat(out.resolve("review.html")).content().contains("Review of labels", "--labels");
        Files.writeString(out.resolve("review.csv"), "edited");
        tiny.goOn(out).done();
        assertThat(out.resolve("review.csv")).hasContent("edited");
    }

    @Test
    void hostileNamesAreText() throws IOException {
        Path script = tiny.images().root().resolve("wood/=<script>alert(1)&\".bmp");
        Files.move(tiny.images().root().resolve("wood/6.bmp"), script);
        train(out, "--labels", labels("path,label\n\"" + name(script) + "\",paper\n"))
                .done();
        assertThat(out.resolve("review.html"))
                .content()
                .contains("=&lt;script>")
                .doesNotContain("<script");
        assertThat(out.resolve("review.csv")).content().contains("wood/=<script>");
    }

    private String name(Path file) {
        return tiny.images().root().relativize(file).toString().replace("\"", "\"\"");
    }

    @Test
    void listedLabelsAreTrainedAndResumed() throws IOException {
        Path list = labels("path,label,suggested\nwood/1.bmp,paper,paper\nwood/2.bmp,paper,paper\n");
        Run run = train(out, "--labels", list, "--set", "data.protocol=holdout:0.5");
        assertThat(run.done().err()).contains("2 images have another label");
        assertThat(papers()).isEqualTo(4); // half of 8
        Files.delete(list);
        Files.delete(out.resolve("model.safetensors"));
        tiny.goOn(out).done();
        assertThat(papers()).isEqualTo(4);
    }

    private long papers() throws IOException {
        return EvaluationFile.read(out.resolve(EvaluationFile.FILE)).predictions().stream()
                .mapToInt(ImagePrediction::truth)
                .filter(label -> label == 0)
                .count();
    }

    @Test
    void rejectsUnknownImageInList() throws IOException {
        Path list = labels("path,label\nwood/9.bmp,paper\n");
        train(out, "--labels", list).refused(ExitCode.DATA, list, "line 2", "wood/9.bmp");
        assertThat(out).doesNotExist();
    }

    @Test
    void evaluationTakesLabelsOfTraining() throws IOException {
        Path list = labels("path,label\nwood/1.bmp,paper\n");
        train(out, "--labels", list).done();
        Path images = tiny.images().root();
        assertThat(Run.of("evaluate", out, images, "--labels", list, "--device", "cpu")
                        .done()
                        .err())
                .doesNotContain("differs");
        assertThat(Run.of("evaluate", out, images, "--device", "cpu").done().err())
                .contains("differs");
    }
}
