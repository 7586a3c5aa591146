package org.gramian.backbone.weights.format;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.DType;
import org.gramian.tensor.file.TensorFileException;
import org.gramian.tensor.file.TensorLayout;

/**
 * Interpreter for the part of Python's pickle language that state dictionaries use, protocol 2 as {@code torch.save} writes it.
 *
 * <p>Python imports and calls what a pickle names. This interpreter knows three functions as constructors of plain values, and
 * refuses all others by name. Values become {@link String}, {@link Long}, {@link List} (also for tuples), {@link Map},
 * {@link Storage} and {@link View}. Containers of a malicious file can contain themselves: never recurse into them.
 *
 * @see <a href="https://docs.python.org/3/library/pickletools.html">the language</a>
 */
final class PickleReader {
    /** Each operation makes at most one small object; the largest published state dictionaries need under 100,000. */
    static final int MAX_OPERATIONS = 2_000_000;

    static final int MAX_REMEMBERED = 500_000;
    static final int MAX_MARKS = 1000;

    private static final int MAX_RANK = 64;

    /** Comparing longer names repeatedly is too slow. */
    private static final int MAX_NAME_LENGTH = 10_000;

    private static final Map<String, DType> STORAGES = Map.of(
            "torch.DoubleStorage", DType.F64,
            "torch.FloatStorage", DType.F32,
            "torch.HalfStorage", DType.F16,
            "torch.BFloat16Storage", DType.BF16,
            "torch.LongStorage", DType.I64,
            "torch.IntStorage", DType.I32,
            "torch.ByteStorage", DType.U8,
            "torch.BoolStorage", DType.BOOL);

    private static final String ORDERED_DICTIONARY = "collections.OrderedDict";
    private static final String TENSOR = "torch._utils._rebuild_tensor_v2";
    private static final String PARAMETER = "torch._utils._rebuild_parameter";

    private final Path file;
    private final ByteBuffer bytes;
    private final Map<Integer, Object> memo = new HashMap<>();
    /** Stack since the last mark; {@link #aside} holds the parts before. */
    private List<Object> stack = new ArrayList<>();

    private final List<List<Object>> aside = new ArrayList<>();

    /** Python's {@code None}, {@code bool} or {@code float}, which no tensor needs. */
    private static final Object OTHER = new Object();

    /** Allowed function or class, e.g. {@code torch._utils._rebuild_tensor_v2}. */
    private record Function(String path) {}

    /** PyTorch storage: the data of one or more tensors, stored elsewhere in the file under a key. */
    record Storage(DType type, String key, long elements) {}

    /** Tensor: a view of a storage, with shape, strides and offset. */
    record View(Storage storage, TensorLayout layout) {}

    private PickleReader(Path file, ByteBuffer bytes) {
        this.file = file;
        this.bytes = bytes;
    }

    static Object read(Path file, ByteBuffer bytes) throws TensorFileException {
        PickleReader reader = new PickleReader(file, bytes.order(ByteOrder.LITTLE_ENDIAN));
        try {
            return reader.run();
        } catch (BufferUnderflowException e) {
            throw new TensorFileException(
                    file, "expected the rest of a pickle, found its end after " + bytes.limit() + " bytes", e);
        }
    }

    private Object run() throws TensorFileException {
        for (int count = 0; count < MAX_OPERATIONS; count++) {
            int operation = length1();
            if (operation == '.') {
                return pop();
            }
            step(operation);
        }
        throw fault("expected at most " + MAX_OPERATIONS + " operations, found more");
    }

    private void step(int operation) throws TensorFileException {
        switch (operation) {
            case 0x80 -> require(length1() == 2, "expected pickle protocol 2, torch.save's default, found another");
            case 'N', 0x88, 0x89 -> push(OTHER);
            case 'G' -> {
                take(Double.BYTES);
                push(OTHER);
            }
            case 'J' -> push((long) bytes.getInt());
            case 'K' -> push((long) length1());
            case 'M' -> push(Short.toUnsignedLong(bytes.getShort()));
            case 0x8a -> push(integer(length1()));
            case 'X' -> push(text(Integer.toUnsignedLong(bytes.getInt())));
            case '}' -> push(new LinkedHashMap<>());
            case ']', ')' -> push(new ArrayList<>());
            case 'c' -> push(find(line() + "." + line()));
            case 'h' -> push(remembered(length1()));
            case 'j' -> push(remembered(bytes.getInt()));
            case 'q' -> remember(length1());
            case 'r' -> remember(bytes.getInt());
            case '(' -> mark();
            case 't' -> push(sinceMark());
            case 0x85, 0x86, 0x87 -> push(last(operation - 0x84));
            case 'a' -> append(last(1));
            case 'e' -> append(sinceMark());
            case 's' -> put(last(2));
            case 'u' -> put(sinceMark());
            case 'Q' -> push(storage(pop()));
            case 'R' -> push(call(last(2)));
            case 'b' -> build(pop());
            default -> throw fault("expected an operation of a state dictionary, found 0x%02x".formatted(operation));
        }
    }

    private void require(boolean condition, String problem) throws TensorFileException {
        if (!condition) {
            throw fault(problem);
        }
    }

    private <T> T expect(Class<T> kind, Object value, String name) throws TensorFileException {
        if (!kind.isInstance(value)) {
            throw fault("expected " + name + ", found something else");
        }
        return kind.cast(value);
    }

    private void mark() throws TensorFileException {
        require(aside.size() < MAX_MARKS, "expected at most 1000 containers inside each other, found more");
        aside.add(stack);
        stack = new ArrayList<>();
    }

    private List<Object> sinceMark() throws TensorFileException {
        require(!aside.isEmpty(), "expected a mark, found none");
        List<Object> items = stack;
        stack = aside.removeLast();
        return items;
    }

    private List<Object> last(int count) throws TensorFileException {
        if (stack.size() < count) {
            throw fault("expected " + count + " values on the stack, found " + stack.size());
        }
        List<Object> tail = stack.subList(stack.size() - count, stack.size());
        List<Object> items = new ArrayList<>(tail);
        tail.clear();
        return items;
    }

    /** Not {@code stack.add(...)}: its argument may replace the stack. */
    private void push(Object value) {
        stack.add(value);
    }

    private Object pop() throws TensorFileException {
        return last(1).getFirst();
    }

    private Object top() throws TensorFileException {
        require(!stack.isEmpty(), "expected a value on the stack, found none");
        return stack.getLast();
    }

    private void remember(int index) throws TensorFileException {
        require(memo.size() < MAX_REMEMBERED, "expected at most 500000 memo entries, found more");
        memo.put(index, top());
    }

    private Object remembered(int index) throws TensorFileException {
        Object value = memo.get(index);
        if (value == null) {
            throw fault("expected memo entry " + index + ", found none");
        }
        return value;
    }

    @SuppressWarnings("unchecked") // every list on the stack was created here
    private void append(List<Object> items) throws TensorFileException {
        ((List<Object>) expect(List.class, top(), "a list to append to")).addAll(items);
    }

    @SuppressWarnings("unchecked") // every dictionary on the stack was created here
    private void put(List<Object> entries) throws TensorFileException {
        Map<Object, Object> dictionary = expect(Map.class, top(), "a dictionary");
        require(entries.size() % 2 == 0, "expected pairs for a dictionary, found an odd number of values");
        for (int i = 0; i < entries.size(); i += 2) {
            Object key = entries.get(i);
            if (key instanceof String name) {
                requireShort(name);
            } else {
                require(
                        key instanceof Long || key.equals(OTHER),
                        "expected text or a number as a key, found something else");
            }
            dictionary.put(key, entries.get(i + 1));
        }
    }

    /** An ordered dictionary carries the versions of its modules as an attribute, which no tensor needs. */
    private void build(Object state) throws TensorFileException {
        expect(Map.class, top(), "an ordered dictionary, which has attributes");
        expect(Map.class, state, "attributes of an ordered dictionary");
    }

    private Function find(String path) throws TensorFileException {
        if (STORAGES.containsKey(path)
                || List.of(ORDERED_DICTIONARY, TENSOR, PARAMETER).contains(path)) {
            return new Function(path);
        }
        if (path.startsWith("torch.") && path.endsWith("Storage")) {
            throw fault("holds a " + path + ", whose element type is not one of " + DType.names());
        }
        throw fault("the file requests " + QuotedText.bare(path) + ", which is not a tensor: refused; "
                + "torch.save only the state_dict()");
    }

    private Object call(List<Object> parts) throws TensorFileException {
        String path = expect(Function.class, parts.getFirst(), "a function").path();
        List<?> arguments = row(parts.getLast());
        return switch (path) {
            case ORDERED_DICTIONARY -> {
                require(arguments.isEmpty(), "expected an ordered dictionary without arguments, found some");
                yield new LinkedHashMap<>();
            }
            case TENSOR -> tensor(arguments);
            case PARAMETER -> expect(View.class, argument(arguments, 0), "a tensor as a parameter's value");
            default -> throw fault("the file calls " + path + ", which is not a function: refused");
        };
    }

    private View tensor(List<?> arguments) throws TensorFileException {
        Storage storage = expect(Storage.class, argument(arguments, 0), "a tensor storage");
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

    /** Returns the storage of {@code ('storage', type, key, place, elements)}. */
    private Storage storage(Object identifier) throws TensorFileException {
        List<?> parts = row(identifier);
        require(
                argument(parts, 0).equals("storage"),
                "the file refers to an object that is not tensor storage: refused; torch.save only the state_dict()");
        DType type = STORAGES.get(expect(Function.class, argument(parts, 1), "the type of a storage")
                .path());
        String key = expect(String.class, argument(parts, 2), "text as the key of a storage");
        requireShort(key);
        if (type == null) {
            throw fault("expected the type of a storage, found something else");
        }
        return new Storage(type, key, number(argument(parts, 4)));
    }

    /** Refuses a name that is too long to be compared. */
    private void requireShort(String name) throws TensorFileException {
        if (name.length() > MAX_NAME_LENGTH) {
            throw fault("expected a name of at most %d characters, found one of %d"
                    .formatted(MAX_NAME_LENGTH, name.length()));
        }
    }

    private List<Long> numbers(Object value) throws TensorFileException {
        List<?> items = row(value);
        // checked before copying: a file can refer to one long row a million times
        if (items.size() > MAX_RANK) {
            throw fault("expected at most " + MAX_RANK + " dimensions, found " + items.size());
        }
        List<Long> numbers = new ArrayList<>();
        for (Object item : items) {
            numbers.add(number(item));
        }
        return numbers;
    }

    private long number(Object value) throws TensorFileException {
        if (value instanceof Long whole && whole >= 0) {
            return whole;
        }
        throw fault("expected a whole number from 0 to 2^63-1, found something else");
    }

    private List<?> row(Object value) throws TensorFileException {
        return expect(List.class, value, "a list or a tuple");
    }

    private Object argument(List<?> arguments, int index) throws TensorFileException {
        require(index < arguments.size(), "expected more arguments, found no more");
        return arguments.get(index);
    }

    private int length1() {
        return Byte.toUnsignedInt(bytes.get());
    }

    private long integer(int length) throws TensorFileException {
        if (length > Long.BYTES) {
            throw fault("expected a number of at most " + Long.BYTES + " bytes, found " + length);
        }
        byte[] littleEndian = take(length);
        long value = length == 0 ? 0 : littleEndian[length - 1]; // with its sign
        for (int i = length - 2; i >= 0; i--) {
            value = value << Byte.SIZE | Byte.toUnsignedLong(littleEndian[i]);
        }
        return value;
    }

    private String text(long length) throws TensorFileException {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(take(length)))
                    .toString();
        } catch (CharacterCodingException _) {
            throw fault("expected text in UTF-8, found other bytes");
        }
    }

    private String line() throws TensorFileException {
        StringBuilder line = new StringBuilder();
        for (int c = length1(); c != '\n'; c = length1()) {
            require(line.length() < 1000, "expected a name of at most 1000 characters, found more");
            line.append((char) c);
        }
        return line.toString();
    }

    private byte[] take(long length) {
        if (length < 0 || length > bytes.remaining()) {
            throw new BufferUnderflowException();
        }
        byte[] taken = new byte[(int) length];
        bytes.get(taken);
        return taken;
    }

    private TensorFileException fault(String problem) {
        return new TensorFileException(
                file, "its pickle is not understood at byte " + bytes.position() + ": " + problem);
    }
}
