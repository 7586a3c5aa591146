package org.gramian.evaluate;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.gramian.basis.AtomicTextFile;
import org.gramian.basis.QuotedText;
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
 * An evaluation as a JSON file, to the last bit: setting, classes, every score, the temperature, and all that follows
 * from them, so that another program need not compute it.
 *
 * <p>The file begins with {@code "format": "gramian-evaluation"} and a version. What it does not name is an error, and so
 * is a confusion matrix that does not match its predictions, as after editing one of them.
 */
public final class EvaluationFile {
    /** About ten million scores; reading takes a few times as much memory. */
    private static final long MOST_BYTES = 1L << 28;

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

    /** Where a message of the mapper goes on to its settings and our types, which mean nothing to the user. */
    private static final Pattern ADVICE = Pattern.compile("; `|: enable `| \\(but might| \\(class | \\(for Object");

    private EvaluationFile() {}

    /** Writes or replaces a file, whole or not at all. */
    public static void write(Path path, Evaluation evaluation) throws IOException {
        AtomicTextFile.write(path, text -> {
            try {
                MAPPER.writerWithDefaultPrettyPrinter().writeValue(text, EvaluationDocument.of(evaluation, MAPPER));
                text.write('\n');
            } catch (JacksonException e) {
                throw e.getCause() instanceof IOException cause ? cause : new IOException(e.getOriginalMessage(), e);
            }
        });
    }

    /**
     * Reads a file.
     *
     * @throws EvaluationFileException if it is no evaluation, one of a newer version, or contradicts itself
     */
    public static Evaluation read(Path path) throws EvaluationFileException {
        try {
            requireFile(path);
            requireVersion(path);
            EvaluationDocument document;
            try (Reader text = open(path)) {
                document = MAPPER.readValue(text, EvaluationDocument.class);
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
        if (Files.size(path) > MOST_BYTES) {
            throw new EvaluationFileException(
                    path, "expected an evaluation of at most " + MOST_BYTES + " bytes, found " + Files.size(path));
        }
    }

    /** Not UTF-8 is an error here, where the mapper by itself would guess. */
    private static Reader open(Path path) throws IOException {
        return new InputStreamReader(Files.newInputStream(path), StandardCharsets.UTF_8.newDecoder());
    }

    /** The first two fields say what the rest means; a newer version may mean something else by it. */
    private static void requireVersion(Path path) throws IOException {
        try (Reader text = open(path);
                JsonParser json = MAPPER.createParser(text)) {
            boolean ours = json.nextToken() == JsonToken.START_OBJECT
                    && "format".equals(json.nextName())
                    && EvaluationDocument.FORMAT.equals(json.nextStringValue())
                    && "version".equals(json.nextName())
                    && json.nextToken() == JsonToken.VALUE_NUMBER_INT;
            if (!ours) {
                throw new EvaluationFileException(
                        path,
                        "expected an evaluation that starts with \"format\": \"%s\" and a version, found something else"
                                .formatted(EvaluationDocument.FORMAT));
            }
            if (json.getIntValue() != EvaluationDocument.VERSION) {
                throw new EvaluationFileException(
                        path,
                        "expected an evaluation of version %d, found version %d; use the Gramian that wrote it"
                                .formatted(EvaluationDocument.VERSION, json.getIntValue()));
            }
        }
    }

    private static void requireAgreement(Path path, EvaluationDocument document, Evaluation evaluation)
            throws EvaluationFileException {
        JsonNode stored = document.results().at(EvaluationDocument.COUNTS);
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
}
