package org.gramian.evaluate;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.gramian.basis.AtomicTextFile;
import org.gramian.basis.QuotedText;
import org.gramian.evaluate.ConfusionMatrix.ClassScore;
import org.gramian.image.dataset.protocol.Fingerprint;
import org.gramian.model.Logits;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * JSON file of an evaluation: setting, classes, every score, the temperature, and all metrics.
 *
 * <p>The file begins with {@code "format": "gramian-evaluation"} and a version. Unknown fields are errors, as is a confusion
 * matrix that does not match the predictions.
 */
public final class EvaluationFile {
    private static final String FORMAT = "gramian-evaluation";
    private static final int VERSION = 1;

    /** About ten million scores; reading takes a few times as much memory. */
    private static final long MAX_BYTES = 1L << 28;

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .enable(EnumFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
            .changeDefaultNullHandling(_ -> JsonSetter.Value.construct(Nulls.FAIL, Nulls.FAIL))
            .build();

    /** Start of the part of a Jackson message that names its settings and types. */
    private static final Pattern ADVICE = Pattern.compile("; `|: enable `| \\(but might| \\(class | \\(for Object");

    private EvaluationFile() {}

    /** Writes or replaces a file atomically. */
    public static void write(Path path, Evaluation evaluation) throws IOException {
        AtomicTextFile.write(path, text -> {
            try {
                MAPPER.writerWithDefaultPrettyPrinter().writeValue(text, Document.of(evaluation));
                text.write('\n');
            } catch (JacksonException e) {
                throw e.getCause() instanceof IOException cause ? cause : new IOException(e.getOriginalMessage(), e);
            }
        });
    }

    /**
     * Reads a file.
     *
     * @throws EvaluationFileException if it is not an evaluation, has a newer version, or is inconsistent
     */
    public static Evaluation read(Path path) throws EvaluationFileException {
        try {
            requireFile(path);
            requireVersion(path);
            Document document;
            try (Reader text = open(path)) {
                document = MAPPER.readValue(text, Document.class);
            }
            Evaluation evaluation = document.evaluation();
            requireAgreement(path, document, evaluation);
            return evaluation;
        } catch (JacksonException e) {
            throw new EvaluationFileException(path, problem(e), e);
        } catch (IllegalArgumentException e) {
            throw new EvaluationFileException(path, "inconsistent content: " + e.getMessage(), e);
        } catch (EvaluationFileException e) {
            throw e;
        } catch (IOException e) {
            throw new EvaluationFileException(path, "cannot be read: " + e, e);
        }
    }

    private static void requireFile(Path path) throws IOException {
        if (!Files.isRegularFile(path)) {
            throw new EvaluationFileException(
                    path,
                    "expected a file with an evaluation in JSON, found "
                            + (Files.exists(path) ? "a folder" : "nothing"));
        }
        if (Files.size(path) > MAX_BYTES) {
            throw new EvaluationFileException(
                    path, "expected an evaluation of at most " + MAX_BYTES + " bytes, found " + Files.size(path));
        }
    }

    /** Opens a file as UTF-8; other bytes are an error. */
    private static Reader open(Path path) throws IOException {
        return new InputStreamReader(Files.newInputStream(path), StandardCharsets.UTF_8.newDecoder());
    }

    /** Checks the first two fields: format and version. */
    private static void requireVersion(Path path) throws IOException {
        try (Reader text = open(path);
                JsonParser json = MAPPER.createParser(text)) {
            boolean ours = json.nextToken() == JsonToken.START_OBJECT
                    && "format".equals(json.nextName())
                    && FORMAT.equals(json.nextStringValue())
                    && "version".equals(json.nextName())
                    && json.nextToken() == JsonToken.VALUE_NUMBER_INT;
            if (!ours) {
                throw new EvaluationFileException(
                        path,
                        "expected an evaluation that starts with \"format\": \"%s\" and a version, found something else"
                                .formatted(FORMAT));
            }
            if (json.getIntValue() != VERSION) {
                throw new EvaluationFileException(
                        path,
                        "expected an evaluation of version %d, found version %d; use the Gramian that wrote it"
                                .formatted(VERSION, json.getIntValue()));
            }
        }
    }

    private static void requireAgreement(Path path, Document document, Evaluation evaluation)
            throws EvaluationFileException {
        JsonNode stored = document.results().at("/confusion/counts");
        JsonNode computed = MAPPER.valueToTree(evaluation.confusion().counts());
        if (!stored.equals(computed)) {
            throw new EvaluationFileException(
                    path,
                    "expected the confusion matrix of its predictions, found another; the file was edited or is"
                            + " damaged: evaluate the model again");
        }
    }

    private static String problem(JacksonException e) {
        if (e.getCause() instanceof CharacterCodingException) {
            return "expected text in UTF-8, found other bytes";
        }
        String where = e.getPath().stream()
                .map(step ->
                        step.getPropertyName() == null ? "[" + step.getIndex() + "]" : "." + step.getPropertyName())
                .collect(Collectors.joining());
        String place = where.isEmpty() ? "" : " at " + QuotedText.text(where.substring(where.startsWith(".") ? 1 : 0));
        String message = ADVICE.split(e.getOriginalMessage(), 2)[0].replaceAll("org\\.gramian\\.[\\w.]*\\$?", "");
        return "expected an evaluation in JSON, found" + place + ": " + QuotedText.bare(message);
    }

    /** The JSON of the file. {@code results} follows from the rest: it is for other programs, and is only compared when read. */
    @JsonPropertyOrder({"format", "version", "setting", "classes", "temperature", "results", "predictions"})
    private record Document(
            String format,
            int version,
            StoredSetting setting,
            List<String> classes,
            StoredTemperature temperature,
            JsonNode results,
            List<StoredPrediction> predictions) {
        /** A {@link Setting}. */
        record StoredSetting(String protocol, String fold, String fingerprint, long seed) {}

        /** A {@link Temperature}. */
        record StoredTemperature(double value, String source) {}

        /** A {@link ImagePrediction}. */
        record StoredPrediction(String name, int truth, List<Double> logits) {}

        static Document of(Evaluation evaluation) {
            Setting setting = evaluation.setting();
            Temperature temperature = evaluation.temperature();
            return new Document(
                    FORMAT,
                    VERSION,
                    new StoredSetting(
                            setting.protocol(),
                            setting.fold(),
                            setting.fingerprint().hex(),
                            setting.seed()),
                    evaluation.classes(),
                    new StoredTemperature(temperature.value(), temperature.source()),
                    MAPPER.valueToTree(results(evaluation)),
                    evaluation.predictions().stream()
                            .map(prediction -> new StoredPrediction(
                                    prediction.name(),
                                    prediction.truth(),
                                    Arrays.stream(prediction.logits().toArray())
                                            .boxed()
                                            .toList()))
                            .toList());
        }

        private static Map<String, Object> results(Evaluation evaluation) {
            ConfusionMatrix confusion = evaluation.confusion();
            Map<String, Object> results = new LinkedHashMap<>();
            results.put("images", evaluation.predictions().size());
            results.put("right", evaluation.accuracy().right());
            for (Metric metric : Metric.values()) {
                results.put(metric.key(), metric.of(evaluation));
            }
            results.put("accuracyInterval95", evaluation.accuracy().interval());
            results.put(
                    "withoutTemperature",
                    evaluation.calibrated(Temperature.NONE).calibration());
            results.put("reliability", evaluation.calibration().bins());
            results.put(
                    "perClass", confusion.perClass().stream().map(Document::row).toList());
            Map<String, Object> matrix = new LinkedHashMap<>();
            matrix.put("orientation", ConfusionMatrix.ORIENTATION);
            matrix.put("counts", confusion.counts());
            results.put("confusion", matrix);
            return results;
        }

        private static Map<String, Object> row(ClassScore score) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("name", score.name());
            row.put("support", score.support());
            row.put("predicted", score.predicted());
            row.put("right", score.right());
            row.put("precision", score.precision());
            row.put("recall", score.recall());
            row.put("f1", score.f1());
            return row;
        }

        /** @throws IllegalArgumentException if the parts do not fit together */
        Evaluation evaluation() {
            return new Evaluation(
                    new Setting(
                            setting.protocol(), setting.fold(), new Fingerprint(setting.fingerprint()), setting.seed()),
                    classes,
                    predictions.stream()
                            .map(prediction -> new ImagePrediction(
                                    prediction.name(), prediction.truth(), Logits.of(prediction.logits())))
                            .toList(),
                    new Temperature(temperature.value(), temperature.source()));
        }
    }
}
