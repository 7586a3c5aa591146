package org.gramian.inspect;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Spectra of the matrices of a model's pooling on test images, and degenerate channels of its feature maps.
 *
 * @param model SHA-256 of the model's file, in hexadecimal digits
 * @param stages the matrices after the kernel and after each transform; empty for poolings without matrices
 */
public record SpdInspection(String model, String pooling, DegenerateChannels channels, List<MatrixStage> stages) {
    /** File name in the folder of a fold. */
    public static final String FILE = "spd.json";

    private static final String FORMAT = "gramian-spd";
    private static final int VERSION = 1;

    /** Several times what matrices of 2,048 rows take. */
    private static final long MAX_BYTES = 1L << 24;

    private static final JsonMapper READER = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
            .changeDefaultNullHandling(_ -> JsonSetter.Value.construct(Nulls.FAIL, Nulls.FAIL))
            .build();

    private record Document(String format, int version, SpdInspection inspection) {}

    public SpdInspection {
        stages = List.copyOf(stages);
    }

    /** Writes or replaces a JSON file atomically. */
    public void write(Path path) throws IOException {
        AtomicFile.putText(path, text -> text.write(JsonText.indented(new Document(FORMAT, VERSION, this)) + "\n"));
    }

    /**
     * Reads a file.
     *
     * @throws IOException if {@link #write} did not write it; the message names the expected and the found content
     */
    public static SpdInspection read(Path path) throws IOException {
        long bytes = Files.size(path);
        if (bytes > MAX_BYTES) {
            throw new IOException(path + ": expected an inspection of at most " + MAX_BYTES + " bytes, found " + bytes);
        }
        @Nullable Document document;
        try {
            document = READER.readValue(Files.readAllBytes(path), Document.class);
        } catch (JacksonException wrong) {
            throw new IOException(
                    path + ": expected an inspection written by 'gramian train', found: "
                            + QuotedText.bare(wrong.getOriginalMessage()),
                    wrong);
        }
        if (document == null || !document.format.equals(FORMAT) || document.version != VERSION) {
            throw new IOException(path + ": expected the format " + FORMAT + " of version " + VERSION + ", found "
                    + (document == null
                            ? "nothing"
                            : QuotedText.text(document.format) + " of version " + document.version));
        }
        return document.inspection;
    }
}
