package org.gramian.inspect;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.gramian.basis.AtomicTextFile;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** An inspection as a JSON file: its parts under their names, after {@code "format": "gramian-spd"} and a version. */
final class InspectionFile {
    private static final String FORMAT = "gramian-spd";
    private static final int VERSION = 1;

    /** Several times what matrices of 2,048 rows take. */
    private static final long MOST_BYTES = 1L << 24;

    private static final JsonMapper READER = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
            .changeDefaultNullHandling(_ -> JsonSetter.Value.construct(Nulls.FAIL, Nulls.FAIL))
            .build();

    private InspectionFile() {}

    private record Document(String format, int version, SpdInspection inspection) {}

    static void write(Path path, SpdInspection inspection) throws IOException {
        AtomicTextFile.write(
                path, text -> text.write(JsonText.indented(new Document(FORMAT, VERSION, inspection)) + "\n"));
    }

    static SpdInspection read(Path path) throws IOException {
        long bytes = Files.size(path);
        if (bytes > MOST_BYTES) {
            throw new IOException(
                    path + ": expected an inspection of at most " + MOST_BYTES + " bytes, found " + bytes);
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
        if (document == null) {
            throw new IOException(path + ": expected an inspection written by 'gramian train', found an empty file");
        }
        if (!document.format.equals(FORMAT) || document.version != VERSION) {
            throw new IOException(path + ": expected the format " + FORMAT + " of version " + VERSION + ", found "
                    + QuotedText.text(document.format) + " of version " + document.version);
        }
        return document.inspection;
    }
}
