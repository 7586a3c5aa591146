package org.gramian.backbone.weights;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import org.gramian.basis.Sha256;
import org.gramian.tensor.file.InputFile;
import org.gramian.tensor.file.StoredTensor;

/** SHA-256 of files, and of weights independent of their file. */
final class WeightFingerprint {
    private static final int CHUNK = 1 << 20;

    private WeightFingerprint() {}

    /** Computes the SHA-256 of names, types, shapes and elements in the order of a built-in network. */
    static String of(SequencedMap<String, StoredTensor> tensors) {
        return of(tensors, Optional.empty());
    }

    /** Computes the SHA-256 of names, types, shapes and elements in the network's order, and of its definition. */
    static String of(SequencedMap<String, StoredTensor> tensors, Optional<String> definition) {
        MessageDigest digest = Sha256.digest();
        definition.ifPresent(text -> digest.update(text.getBytes(StandardCharsets.UTF_8)));
        for (Map.Entry<String, StoredTensor> entry : tensors.entrySet()) {
            StoredTensor tensor = entry.getValue();
            String head = entry.getKey() + "\n" + tensor.type() + "\n" + tensor.shape() + "\n";
            digest.update(head.getBytes(StandardCharsets.UTF_8));
            update(digest, tensor.data());
        }
        return Sha256.hex(digest.digest());
    }

    /** Computes the SHA-256 of a file. */
    static String of(Path path) throws IOException {
        try (InputFile file = InputFile.open(path);
                Arena arena = Arena.ofConfined()) {
            MessageDigest digest = Sha256.digest();
            update(digest, file.map(0, arena));
            return Sha256.hex(digest.digest());
        }
    }

    private static void update(MessageDigest digest, MemorySegment data) {
        for (long at = 0; at < data.byteSize(); at += CHUNK) {
            digest.update(
                    data.asSlice(at, Math.min(CHUNK, data.byteSize() - at)).asByteBuffer());
        }
    }
}
