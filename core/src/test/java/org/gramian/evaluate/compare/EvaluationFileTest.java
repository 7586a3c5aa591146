package org.gramian.evaluate.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.gramian.evaluate.Calibration;
import org.gramian.evaluate.Calibration.Temperature;
import org.gramian.evaluate.ConfusionMatrix;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.evaluate.Evaluation.Setting;
import org.gramian.evaluate.MadeUp;
import org.gramian.image.dataset.protocol.Fingerprint;
import org.gramian.model.Logits;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class EvaluationFileTest {
    @TempDir
    private Path folder;

    /** Everything that a careless writer gets wrong. */
    private static Evaluation nasty() {
        return new Evaluation(
                new Setting("thirds:3", "drittes \"Drittel\", ☃", new Fingerprint("0f".repeat(32)), Long.MIN_VALUE),
                List.of("a,b", "c\"d\n", " é "),
                List.of(
                        new ImagePrediction("=1+1", 0, Logits.of(-0.0, Double.MIN_VALUE, Math.nextUp(0.1))),
                        new ImagePrediction("line\nbreak,\"", 1, Logits.of(1e100, -1e100, 1.0 / 3)),
                        new ImagePrediction("\u0000 \ud83d\ude00", 2, Logits.of(1, 2, 3))),
                new Temperature(Math.nextUp(1.7), "9 validation images"));
    }

    @RandomTest
    void writtenEvaluationsAreReadExactly(Seed seed) throws IOException {
        SplittableRandom random = seed.random();
        Evaluation evaluation = MadeUp.evaluation(random, random.nextInt(1, 40), random.nextInt(1, 9));
        Evaluation calibrated = evaluation.calibrated(Temperature.fit(evaluation.predictions(), Optional.empty()));
        Path file = folder.resolve("e.json");
        for (Evaluation written : List.of(evaluation, calibrated, nasty())) {
            EvaluationFile.write(file, written);
            assertThat(EvaluationFile.read(file)).isEqualTo(written);
        }
    }

    @Test
    void fileHasAllMetrics() throws IOException {
        Evaluation evaluation = MadeUp.evaluation(new SplittableRandom(3), 50, 7);
        evaluation = evaluation.calibrated(Temperature.fit(evaluation.predictions(), Optional.empty()));
        Path file = folder.resolve("e.json");
        EvaluationFile.write(file, evaluation);
        JsonNode results = JsonMapper.shared().readTree(Files.readString(file)).get("results");
        for (Metric metric : Metric.values()) {
            assertThat(results.get(metric.key()).doubleValue()).isEqualTo(metric.of(evaluation));
        }
        assertThat(results.at("/accuracyInterval95/low").doubleValue())
                .isEqualTo(evaluation.accuracy().interval().low());
        assertThat(results.at("/confusion/orientation").stringValue()).isEqualTo(ConfusionMatrix.ORIENTATION);
        assertThat(results.at("/confusion/counts/2/3").intValue())
                .isEqualTo(evaluation.confusion().count(2, 3));
        assertThat(results.at("/perClass/4/f1").doubleValue())
                .isEqualTo(evaluation.confusion().perClass().get(4).f1());
        assertThat(results.get("reliability")).hasSize(Calibration.BINS);
        assertThat(results.at("/withoutTemperature/logLoss").doubleValue())
                .isGreaterThan(results.get("logLoss").doubleValue());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "\"version\" : 1|\"version\" : 2|1 2",
                "\"version\" : 1|\"version\" : 1e400|\"format\"",
                "gramian-evaluation|something|\"format\" \"gramian-evaluation\"",
                "\"truth\" : 1|\"truth\" : 7|0 1 7",
                "\"truth\" : 1|\"truth\" : 1.5|'predictions[1].truth'",
                "\"truth\" : 1|\"truth\" : \"1\"|'predictions[1].truth'",
                "\"truth\" : 1|\"truth\" : null|'predictions[1].truth'",
                "\"truth\" : 1|\"truht\" : 1|'predictions[1].truth'",
                "\"truth\" : 1|\"truth\" : 1, \"truth\" : 1|Duplicate",
                "\"truth\" : 1|\"truth\" : 1, \"more\" : 2|'predictions[1].more'",
                "\"truth\" : 1|\"truth\" : 0|confusion",
                "[ 0.0, 1.0 ]|[ 0.0 ]|1",
                "[ 0.0, 1.0 ]|[ 0.0, null ]|'predictions[1].logits[1]'",
                "[ 0.0, 1.0 ]|[ 0.0, 1e999 ]|1 Infinity",
                "[ 0.0, 1.0 ]|[ 0.0, \"NaN\" ]|1 NaN",
                "[ 0.0, 1.0 ]|[ 0.0, NaN ]|JSON",
                "aaaa|zzzz|64",
                "\"fold\"|\"folt\"|'setting",
                "\"class 0\", \"class 1\"|\"class 0\", null|'classes[1]'",
                "\"value\" : 1.0|\"value\" : -1.0|1.0E-6 -1.0",
            })
    void changedFileIsRefusedWithItsValues(String old, String changed, String values) throws IOException {
        Path file = folder.resolve("e.json");
        EvaluationFile.write(file, MadeUp.of(2, new int[] {0, 1}, new int[] {0, 1}));
        String text = Files.readString(file);
        assertThat(text).contains(old);
        Files.writeString(file, text.replace(old, changed));
        assertThatIOException()
                .isThrownBy(() -> EvaluationFile.read(file))
                .withMessageStartingWith(file + ": ")
                .has(facts((Object[]) values.split(" ")))
                .withMessageNotContaining("Feature")
                .withMessageNotContaining("org.gramian");
    }

    @Test
    void truncatedFileIsRefused() throws IOException {
        Path file = folder.resolve("e.json");
        EvaluationFile.write(file, MadeUp.of(2, new int[] {0, 1}, new int[] {0, 1}));
        byte[] whole = Files.readAllBytes(file);
        for (int length = 0; length < whole.length - 2; length += 41) {
            Files.write(file, Arrays.copyOf(whole, length));
            assertThatIOException().as("%d bytes", length).isThrownBy(() -> EvaluationFile.read(file));
        }
    }

    @Test
    void invalidJsonIsRefused() throws IOException {
        Path file = folder.resolve("e.json");
        for (String text : List.of("", "hello", "[]", "{}", "null", "[".repeat(100_000))) {
            Files.writeString(file, text);
            assertRejected(IOException.class, () -> EvaluationFile.read(file));
        }
        Files.write(file, "{\"format\": \"é".getBytes(StandardCharsets.ISO_8859_1));
        assertThatIOException().isThrownBy(() -> EvaluationFile.read(file)).withMessageContaining("UTF-8");
        assertRejected(IOException.class, () -> EvaluationFile.read(folder.resolve("none")), folder.resolve("none"));
        assertRejected(IOException.class, () -> EvaluationFile.read(folder), folder);
    }

    @Test
    void csvTablesHaveTheDocumentedFormat() throws IOException {
        Evaluation evaluation = new Evaluation(
                MadeUp.SETTING, List.of("a", "b,c"), List.of(new ImagePrediction("x.jpg", 1, Logits.of(0, 0))));
        Path file = folder.resolve("p.csv");
        PredictionTable.of(evaluation).write(file);
        assertThat(Files.readString(file)).isEqualTo("""
            name,truth,prediction,probability,right,calibrated_by,p:a,"p:b,c"
            x.jpg,"b,c",a,0.5,false,none,0.5,0.5
            """);
        evaluation.confusion().write(file);
        assertThat(Files.readString(file)).matches("""
            [^,\n]+,a,"b,c"
            a,0,0
            "b,c",1,0
            """);
    }
}
