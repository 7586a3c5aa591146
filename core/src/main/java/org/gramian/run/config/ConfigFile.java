package org.gramian.run.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.gramian.basis.AtomicTextFile;

/**
 * A YAML file of a training run's configuration: what {@code --config} reads and a run folder keeps.
 *
 * <p>Its list {@code chosen} names the keys whose values nobody asked for. They are read like all others, so the file repeats
 * its run; {@link Settings#wanted} leaves them out.
 */
public final class ConfigFile {
    /** Far more than all keys can take; what is longer is another file. */
    static final int LARGEST = 1 << 20;

    private ConfigFile() {}

    /**
     * What a file says; keys that it leaves out have no value.
     *
     * @throws ConfigException if it cannot be read or is not a configuration; with the line where that is known
     */
    public static Settings read(Path file) {
        return YamlSettings.read(text(file), file);
    }

    /** Writes settings, each line with its origin; equal settings give equal bytes. */
    public static void write(Path file, Settings settings) throws IOException {
        AtomicTextFile.write(file, text -> text.write(YamlText.of(settings)));
    }

    private static String text(Path file) {
        if (!Files.exists(file)) {
            throw new ConfigException(file + ": expected a configuration in YAML, found no such file");
        }
        if (!Files.isRegularFile(file)) {
            throw new ConfigException(
                    file + ": expected a configuration in YAML, found something that is not a regular file");
        }
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file)) {
            bytes = in.readNBytes(LARGEST + 1);
        } catch (AccessDeniedException e) {
            throw new ConfigException(file + ": permission denied", e);
        } catch (IOException e) {
            throw new ConfigException(file + ": cannot be read: " + e.getMessage(), e);
        }
        if (bytes.length > LARGEST) {
            throw new ConfigException(file + ": expected a configuration of at most " + LARGEST
                    + " bytes, found more; is this the right file?");
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new ConfigException(file + ": expected text in UTF-8, found other bytes", e);
        }
    }
}
