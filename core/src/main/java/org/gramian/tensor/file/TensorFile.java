package org.gramian.tensor.file;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.Collectors;
import org.gramian.basis.QuotedText;
import org.jspecify.annotations.Nullable;

/**
 * The content of a file of named tensors.
 *
 * @param path where it was read, for messages
 * @param tensors by name, in the order of their data in the file; cannot be changed
 * @param metadata free text by key, in the order of the header; cannot be changed
 */
public record TensorFile(Path path, SequencedMap<String, StoredTensor> tensors, SequencedMap<String, String> metadata) {
    private static final int NAMES_SHOWN = 20;

    /** Copies both maps. */
    public TensorFile {
        tensors = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(tensors));
        metadata = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(metadata));
    }

    /**
     * The tensor of that name.
     *
     * @throws TensorFileException if there is none; the message lists the names that there are
     */
    public StoredTensor get(String name) throws TensorFileException {
        @Nullable StoredTensor tensor = tensors.get(name);
        if (tensor == null) {
            throw new TensorFileException(
                    path, "expected a tensor named " + QuotedText.text(name) + ", found " + names(tensors));
        }
        return tensor;
    }

    private static String names(Map<String, ?> tensors) {
        if (tensors.isEmpty()) {
            return "no tensors at all";
        }
        String shown = tensors.keySet().stream()
                .limit(NAMES_SHOWN)
                .map(QuotedText::text)
                .collect(Collectors.joining(", "));
        int rest = tensors.size() - NAMES_SHOWN;
        return rest > 0 ? shown + " and " + rest + " more" : shown;
    }
}
