package org.gramian.backbone.weights.format;

import java.math.BigInteger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import org.gramian.backbone.weights.format.PickledValue.Dictionary;
import org.gramian.backbone.weights.format.PickledValue.Function;
import org.gramian.backbone.weights.format.PickledValue.None;
import org.gramian.backbone.weights.format.PickledValue.Row;
import org.gramian.backbone.weights.format.PickledValue.Storage;
import org.gramian.backbone.weights.format.PickledValue.Text;
import org.gramian.backbone.weights.format.PickledValue.View;
import org.gramian.backbone.weights.format.PickledValue.Whole;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.DType;
import org.gramian.tensor.file.TensorFileException;

/** Functions that a state dictionary may call, as constructors of plain values; all others are refused by name. */
final class PickleFunctions {
    private static final Map<String, DType> STORAGES = Map.of(
            "DoubleStorage", DType.F64,
            "FloatStorage", DType.F32,
            "HalfStorage", DType.F16,
            "BFloat16Storage", DType.BF16,
            "LongStorage", DType.I64,
            "IntStorage", DType.I32,
            "ByteStorage", DType.U8,
            "BoolStorage", DType.BOOL);

    private static final String ORDERED_DICTIONARY = "collections.OrderedDict";
    private static final String SIZE = "torch.Size";
    private static final String TENSOR = "torch._utils._rebuild_tensor";
    private static final String TENSOR_2 = "torch._utils._rebuild_tensor_v2";
    private static final String PARAMETER = "torch._utils._rebuild_parameter";
    private static final Set<String> KNOWN = Set.of(ORDERED_DICTIONARY, SIZE, TENSOR, TENSOR_2, PARAMETER);

    private final Path file;
    private final SequencedMap<String, Storage> storages = new LinkedHashMap<>();
    /** Total number of items of dictionaries made from lists. */
    private long listed;

    PickleFunctions(Path file) {
        this.file = file;
    }

    /** Returns the storages named so far, by key. */
    SequencedMap<String, Storage> storages() {
        return storages;
    }

    Function find(String module, String name) throws TensorFileException {
        Function function = new Function(module, name);
        boolean storage = module.equals("torch") && STORAGES.containsKey(name);
        if (storage || KNOWN.contains(function.path())) {
            return function;
        }
        if (module.equals("torch") && name.endsWith("Storage")) {
            throw fault("holds a " + function.path() + ", whose element type is not one of " + DType.names());
        }
        throw fault("the file requests " + QuotedText.bare(function.path()) + ", which is not a tensor: refused; "
                + "torch.save only the state_dict()");
    }

    PickledValue call(Function function, List<PickledValue> arguments) throws TensorFileException {
        return switch (function.path()) {
            case ORDERED_DICTIONARY -> dictionary(arguments);
            case SIZE -> new Row(row(argument(arguments, 0)));
            case TENSOR, TENSOR_2 -> tensor(arguments);
            case PARAMETER -> parameter(arguments);
            default -> throw fault("the file calls " + function.path() + ", which is not a function: refused");
        };
    }

    /** Creates an empty dictionary, or one from pairs, as old versions of Python wrote it. */
    private Dictionary dictionary(List<PickledValue> arguments) throws TensorFileException {
        Dictionary dictionary = new Dictionary();
        if (!arguments.isEmpty()) {
            List<PickledValue> pairs = row(argument(arguments, 0));
            listed += pairs.size();
            if (listed > PickleReader.MAX_OPERATIONS) {
                throw fault("expected at most " + PickleReader.MAX_OPERATIONS
                        + " items in all dictionaries made from lists, found more");
            }
            for (PickledValue pair : pairs) {
                List<PickledValue> two = row(pair);
                if (two.size() != 2 || !(two.getFirst() instanceof Text key)) {
                    throw fault("expected pairs of a name and a value in an ordered dictionary, found something else");
                }
                requireShort(key);
                dictionary.entries().put(two.getFirst(), two.getLast());
            }
        }
        return dictionary;
    }

    private View tensor(List<PickledValue> arguments) throws TensorFileException {
        if (!(argument(arguments, 0) instanceof Storage storage)) {
            throw fault("expected a tensor storage, found something else");
        }
        try {
            long offset = number(argument(arguments, 1));
            TensorLayout layout =
                    new TensorLayout(offset, numbers(argument(arguments, 2)), numbers(argument(arguments, 3)));
            if (layout.shape().elements() > storage.elements() || layout.end() > storage.elements()) {
                throw fault(
                        "a tensor of shape %s, strides %s and offset %d does not fit into its storage of %d elements"
                                .formatted(layout.sizes(), layout.strides(), offset, storage.elements()));
            }
            return new View(storage, layout);
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new TensorFileException(file, "a tensor's storage layout is invalid: " + e.getMessage(), e);
        }
    }

    private View parameter(List<PickledValue> arguments) throws TensorFileException {
        if (argument(arguments, 0) instanceof View view) {
            return view;
        }
        throw fault("expected a tensor as a parameter's value, found something else");
    }

    /** Returns the storage of {@code ('storage', type, key, place, elements[, view])}. */
    Storage storage(PickledValue identifier) throws TensorFileException {
        List<PickledValue> parts = row(identifier);
        if (!(argument(parts, 0) instanceof Text kind) || !kind.value().equals("storage")) {
            throw fault("the file refers to an object that is not tensor storage: refused; "
                    + "torch.save only the state_dict()");
        }
        if (!(argument(parts, 1) instanceof Function type) || !STORAGES.containsKey(type.name())) {
            throw fault("expected the type of a storage, found something else");
        }
        if (!(argument(parts, 2) instanceof Text key)) {
            throw fault("expected text as the key of a storage, found something else");
        }
        requireShort(key);
        if (parts.size() > 5 && parts.get(5) != None.NONE) {
            throw fault("storage " + QuotedText.text(key.value())
                    + " is a part of another one, which PyTorch before 0.4 wrote; save it again with a newer one");
        }
        Storage storage = new Storage(STORAGES.get(type.name()), key.value(), number(argument(parts, 4)));
        Storage before = storages.putIfAbsent(key.value(), storage);
        if (before != null && !before.equals(storage)) {
            throw fault("storage " + QuotedText.text(key.value()) + " is described twice, and differently");
        }
        return storage;
    }

    /** Refuses a name that is too long to be compared. */
    void requireShort(Text name) throws TensorFileException {
        if (name.value().length() > FileLimits.NAME_LENGTH) {
            throw fault("expected a name of at most %d characters, found one of %d"
                    .formatted(FileLimits.NAME_LENGTH, name.value().length()));
        }
    }

    private List<Long> numbers(PickledValue value) throws TensorFileException {
        List<PickledValue> items = row(value);
        // checked before copying: a file can refer to one long row a million times
        if (items.size() > FileLimits.RANK) {
            throw fault("expected at most " + FileLimits.RANK + " dimensions, found " + items.size());
        }
        List<Long> numbers = new ArrayList<>();
        for (PickledValue item : items) {
            numbers.add(number(item));
        }
        return numbers;
    }

    private long number(PickledValue value) throws TensorFileException {
        if (value instanceof Whole(BigInteger whole) && whole.signum() >= 0 && whole.bitLength() < Long.SIZE) {
            return whole.longValue();
        }
        throw fault("expected a whole number from 0 to 2^63-1, found something else");
    }

    private List<PickledValue> row(PickledValue value) throws TensorFileException {
        if (value instanceof Row(List<PickledValue> items)) {
            return items;
        }
        throw fault("expected a list or a tuple, found something else");
    }

    private PickledValue argument(List<PickledValue> arguments, int index) throws TensorFileException {
        if (index >= arguments.size()) {
            throw fault("expected more than " + arguments.size() + " arguments, found no more");
        }
        return arguments.get(index);
    }

    private TensorFileException fault(String problem) {
        return new TensorFileException(file, problem);
    }
}
