package org.gramian.backbone.weights.format;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import org.gramian.backbone.weights.format.PickledValue.Dictionary;
import org.gramian.backbone.weights.format.PickledValue.Storage;
import org.gramian.backbone.weights.format.PickledValue.Text;
import org.gramian.backbone.weights.format.PickledValue.View;
import org.gramian.basis.NameList;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;

/**
 * The state dictionary inside a pickled object: taken out of a checkpoint that wraps it, freed of a wrapper's prefix.
 *
 * @param file for messages
 * @param memory the bytes of a storage
 */
record TorchState(Path file, Memory memory) {
    private static final List<String> WRAPPERS = List.of("state_dict", "model_state_dict", "model");
    private static final int MAX_WRAPPERS = 4;
    private static final String PARALLEL = "module.";

    /** Where the bytes of a storage are found. */
    @FunctionalInterface
    interface Memory {
        MemorySegment of(Storage storage) throws TensorFileException;
    }

    /** All tensors of the object, in its order. */
    WeightFile read(PickledValue object, WeightFormat format, Arena arena) throws TensorFileException {
        List<String> remarks = new ArrayList<>();
        SequencedMap<String, View> views = views(unwrapped(object, remarks), remarks);
        boolean parallel = !views.isEmpty() && views.keySet().stream().allMatch(name -> name.startsWith(PARALLEL));
        if (parallel) {
            remarks.add("the names' prefix '" + PARALLEL + "' was removed");
        }
        SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
        long copied = 0;
        for (Map.Entry<String, View> entry : views.entrySet()) {
            View view = entry.getValue();
            MemorySegment bytes = memory.of(view.storage());
            if (!view.layout().isRowMajor()) {
                copied +=
                        view.layout().shape().elements() * view.storage().type().bytes();
                requireBounded(copied);
            }
            StoredTensor tensor = view.layout().take(view.storage().type(), bytes, arena);
            tensors.put(parallel ? entry.getKey().substring(PARALLEL.length()) : entry.getKey(), tensor);
        }
        return new WeightFile(new TensorFile(file, tensors, new LinkedHashMap<>()), format, remarks);
    }

    private Dictionary unwrapped(PickledValue object, List<String> remarks) throws TensorFileException {
        PickledValue inner = object;
        for (int depth = 0; depth < MAX_WRAPPERS && inner instanceof Dictionary dictionary; depth++) {
            String wrapper = WRAPPERS.stream()
                    .filter(key -> dictionary.entries().get(new Text(key)) instanceof Dictionary)
                    .findFirst()
                    .orElse(null);
            if (wrapper == null) {
                return dictionary;
            }
            if (dictionary.entries().size() > 1) {
                remarks.add("only the entry '" + wrapper + "' of the checkpoint was read");
            }
            inner = Objects.requireNonNull(dictionary.entries().get(new Text(wrapper)));
        }
        throw new TensorFileException(
                file, "expected a state dictionary of names and tensors, found no dictionary, or too many nested ones");
    }

    private SequencedMap<String, View> views(Dictionary dictionary, List<String> remarks) throws TensorFileException {
        SequencedMap<String, View> views = new LinkedHashMap<>();
        List<String> others = new ArrayList<>();
        for (Map.Entry<PickledValue, PickledValue> entry : dictionary.entries().entrySet()) {
            String name = entry.getKey() instanceof Text(String text) ? text : "a key that is not text";
            if (entry.getKey() instanceof Text && entry.getValue() instanceof View view) {
                views.put(name, view);
            } else {
                others.add(QuotedText.text(name));
            }
        }
        if (views.isEmpty()) {
            throw new TensorFileException(
                    file,
                    "expected a state dictionary of names and tensors, found no tensor among " + others.size()
                            + " entries" + (others.isEmpty() ? "" : ", the first of them " + others.getFirst()));
        }
        if (!others.isEmpty()) {
            remarks.add("entries that are not tensors were skipped: " + NameList.some(others));
        }
        return views;
    }

    /** Views that share memory could make copies of any size from a small file. */
    private void requireBounded(long copied) throws TensorFileException {
        long size = file.toFile().length();
        if (copied > FileLimits.unpacked(size)) {
            throw new TensorFileException(
                    file, "its transposed tensors would take " + copied + " bytes, far more than the file's " + size);
        }
    }
}
