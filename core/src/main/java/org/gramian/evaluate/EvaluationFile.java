package org.gramian.evaluate;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.annotation.Nulls;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.QuotedText;
import org.gramian.image.dataset.protocol.Fingerprint;
import org.gramian.model.Logits;
import org.jspecify.annotations.Nullable;
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
 * JSON file of an evaluation: test set, classes, every score, the temperature, and all metrics. A run has {@value #FILE} in its
 * folder, or in {@code fold-1} and so on.
 *
 * <p>The file begins with {@code "format": "gramian-evaluation"} and a version. Unknown fields are errors, as is a confusion
 * matrix that does not match the predictions. Exceptions of reading have the message {@code FILE: what was expected, what was
 * found}.
 */
public final class EvaluationFile {
    /** File name in the folder of a run or fold. */
    public static final String FILE = "evaluation.json";

    private static final String FOLD = "fold-";
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
            .addMixIn(Fingerprint.class, FingerprintJson.class)
            .addMixIn(Temperature.class, TemperatureJson.class)
            .addMixIn(Logits.class, LogitsJson.class)
            .build();

    /** Start of the part of a Jackson message that names its settings and types. */
    private static final Pattern ADVICE = Pattern.compile("; `|: enable `| \\(but might| \\(class | \\(for Object");

    private EvaluationFile() {}

    private abstract static class FingerprintJson {
        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        @SuppressWarnings("UnusedVariable") // Jackson calls the constructor of Fingerprint in its place
        FingerprintJson(String hex) {}

        @JsonValue
        abstract String hex();
    }

    @JsonAutoDetect(isGetterVisibility = Visibility.NONE)
    private interface TemperatureJson {}

    private interface LogitsJson {
        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        static Logits of(List<Double> scores) {
            return Logits.of(scores);
        }

        @JsonValue
        double[] toArray();
    }

    /** The JSON of the file. {@code results} follows from the rest: it is for other programs, and is only compared when read. */
    @JsonPropertyOrder({"format", "version", "setting", "classes", "temperature", "results", "predictions"})
    private record Document(
            String format,
            int version,
            Setting setting,
            List<String> classes,
            Temperature temperature,
            JsonNode results,
            List<ImagePrediction> predictions) {}

    /** Writes or replaces a file atomically. */
    public static void write(Path path, Evaluation evaluation) throws IOException {
        Document document = new Document(
                FORMAT,
                VERSION,
                evaluation.setting(),
                evaluation.classes(),
                evaluation.temperature(),
                MAPPER.valueToTree(results(evaluation)),
                evaluation.predictions());
        AtomicFile.putText(path, text -> {
            try {
                MAPPER.writerWithDefaultPrettyPrinter().writeValue(text, document);
                text.write('\n');
            } catch (JacksonException e) {
                throw e.getCause() instanceof IOException cause ? cause : new IOException(e.getOriginalMessage(), e);
            }
        });
    }

    private static Map<String, Object> results(Evaluation evaluation) {
        Map<String, Object> results = new LinkedHashMap<>();
        results.put("images", evaluation.predictions().size());
        results.put("right", evaluation.accuracy().right());
        for (Metric metric : Metric.values()) {
            results.put(metric.key(), metric.of(evaluation));
        }
        results.put("accuracyInterval95", evaluation.accuracy().interval());
        results.put(
                "withoutTemperature", evaluation.calibrated(Temperature.NONE).calibration());
        results.put("reliability", evaluation.calibration().bins());
        ConfusionMatrix confusion = evaluation.confusion();
        results.put("perClass", confusion.perClass());
        Map<String, Object> matrix = new LinkedHashMap<>();
        matrix.put("orientation", ConfusionMatrix.ORIENTATION);
        matrix.put("counts", confusion.counts());
        results.put("confusion", matrix);
        return results;
    }

    /**
     * Reads a file.
     *
     * @throws IOException if it is not an evaluation, has a newer version, or is inconsistent
     */
    public static Evaluation read(Path path) throws IOException {
        if (!Files.isRegularFile(path)) {
            throw failure(
                    path,
                    "expected a file with an evaluation in JSON, found "
                            + (Files.exists(path) ? "a folder" : "nothing"),
                    null);
        }
        if (Files.size(path) > MAX_BYTES) {
            throw failure(
                    path, "expected an evaluation of at most " + MAX_BYTES + " bytes, found " + Files.size(path), null);
        }
        try {
            requireVersion(path);
            try (Reader text = open(path)) {
                Document document = MAPPER.readValue(text, Document.class);
                Evaluation evaluation = new Evaluation(
                        document.setting(), document.classes(), document.predictions(), document.temperature());
                requireAgreement(path, document.results(), evaluation);
                return evaluation;
            }
        } catch (JacksonException e) {
            throw failure(path, problem(e), e);
        } catch (IllegalArgumentException e) {
            throw failure(path, "inconsistent content: " + e.getMessage(), e);
        }
    }

    private static IOException failure(Path path, String problem, @Nullable Exception cause) {
        return new IOException(path + ": " + problem, cause);
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
                throw failure(
                        path,
                        "expected an evaluation that starts with \"format\": \"%s\" and a version, found something else"
                                .formatted(FORMAT),
                        null);
            }
            if (json.getIntValue() != VERSION) {
                throw failure(
                        path,
                        "expected an evaluation of version %d, found version %d; use the Gramian that wrote it"
                                .formatted(VERSION, json.getIntValue()),
                        null);
            }
        }
    }

    private static void requireAgreement(Path path, JsonNode results, Evaluation evaluation) throws IOException {
        JsonNode computed = MAPPER.valueToTree(evaluation.confusion().counts());
        if (!results.at("/confusion/counts").equals(computed)) {
            throw failure(
                    path,
                    "expected the confusion matrix of its predictions, found another; the file was edited or is"
                            + " damaged: evaluate the model again",
                    null);
        }
    }

    private static String problem(JacksonException e) {
        if (e.getCause() instanceof CharacterCodingException) {
            return "expected text in UTF-8, found other bytes";
        }
        if (e.getCause() instanceof IllegalArgumentException inconsistent) {
            return "inconsistent content: " + inconsistent.getMessage();
        }
        String where = e.getPath().stream()
                .map(step ->
                        step.getPropertyName() == null ? "[" + step.getIndex() + "]" : "." + step.getPropertyName())
                .collect(Collectors.joining());
        String place = where.isEmpty() ? "" : " at " + QuotedText.text(where.substring(where.startsWith(".") ? 1 : 0));
        String message = ADVICE.split(e.getOriginalMessage(), 2)[0].replaceAll("org\\.gramian\\.[\\w.]*\\$?", "");
        return "expected an evaluation in JSON, found" + place + ": " + QuotedText.bare(message);
    }

    /** Returns the folder name of a fold, e.g. {@code fold-1}. */
    public static String fold(int number) {
        return FOLD + number;
    }

    /** Returns the folders of a run's folds, 10 after 9; empty for a run of one fold. */
    public static List<Path> folds(Path run) throws IOException {
        List<Path> folds = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(run, FOLD + "*")) {
            for (Path path : found) {
                if (Files.isDirectory(path)) {
                    folds.add(path);
                }
            }
        }
        folds.sort(
                Comparator.<Path>comparingInt(path -> path.toString().length()).thenComparing(Path::toString));
        return folds;
    }

    /**
     * Reads all folds of a run in order, or one evaluation file.
     *
     * @throws IOException if there is none, a fold is not finished, or a file cannot be read
     */
    public static List<Evaluation> readAll(Path fileOrRun) throws IOException {
        if (!Files.isDirectory(fileOrRun)) {
            return List.of(read(fileOrRun));
        }
        List<Evaluation> evaluations = new ArrayList<>();
        for (Path fold : folds(fileOrRun)) {
            Path file = fold.resolve(FILE);
            if (!Files.exists(file)) {
                throw failure(file, "expected an evaluation, found none: this fold of the run is not finished", null);
            }
            evaluations.add(read(file));
        }
        if (!evaluations.isEmpty()) {
            return evaluations;
        }
        if (!Files.exists(fileOrRun.resolve(FILE))) {
            throw missing(fileOrRun);
        }
        return List.of(read(fileOrRun.resolve(FILE)));
    }

    private static IOException missing(Path folder) throws IOException {
        List<String> runs = new ArrayList<>();
        try (DirectoryStream<Path> below = Files.newDirectoryStream(folder, path -> Files.exists(path.resolve(FILE)))) {
            below.forEach(run -> runs.add(run.toString()));
        }
        return failure(
                folder,
                runs.isEmpty()
                        ? "expected a file with an evaluation, or a run with %s or %s*/%s, found none"
                                .formatted(FILE, FOLD, FILE)
                        : "expected a run, found a folder of runs; choose from: "
                                + QuotedText.some(runs.stream().sorted().toList()),
                null);
    }
}
