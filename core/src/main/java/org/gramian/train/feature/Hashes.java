package org.gramian.train.feature;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.gramian.basis.Sha256;

/** SHA-256 of the files of images, as far as they may be read. */
final class Hashes {
    private Hashes() {}

    /** Of a file's content, where it is a regular file of at most so many bytes that can be read. */
    static Optional<byte[]> of(Path file, long most) {
        try {
            // Asked before opening: opening a pipe would wait for its other end for ever.
            return Files.isRegularFile(file) && Files.size(file) <= most
                    ? Optional.of(Sha256.of(file))
                    : Optional.empty();
        } catch (IOException e) {
            return Optional.empty(); // whoever decodes the image will say why
        }
    }
}
