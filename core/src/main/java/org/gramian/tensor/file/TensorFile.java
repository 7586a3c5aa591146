package org.gramian.tensor.file;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.gramian.basis.QuotedText;
import org.jspecify.annotations.Nullable;

/**
 * Content of a file of named tensors.
 *
 * @param tensors by name, in the order of their data in the file; unmodifiable
 * @param metadata text by key, in the order of the header, without checksums; unmodifiable
 * @param checked whether the file has checksums, which were verified
 */
public record TensorFile(
        Path path, SequencedMap<String, StoredTensor> tensors, SequencedMap<String, String> metadata, boolean checked) {
    public TensorFile {
        tensors = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(tensors));
        metadata = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(metadata));
    }

    /** Creates content without checksums. */
    public TensorFile(Path path, SequencedMap<String, StoredTensor> tensors, SequencedMap<String, String> metadata) {
        this(path, tensors, metadata, false);
    }

    /**
     * Returns a tensor by name.
     *
     * @throws TensorFileException if it is missing; the message lists the names in the file
     */
    public StoredTensor get(String name) throws TensorFileException {
        @Nullable StoredTensor tensor = tensors.get(name);
        if (tensor == null) {
            throw new TensorFileException(
                    path,
                    "expected a tensor named " + QuotedText.text(name) + ", found "
                            + (tensors.isEmpty() ? "no tensors at all" : QuotedText.quoted(tensors.keySet())));
        }
        return tensor;
    }
}
