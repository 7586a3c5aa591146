package org.gramian.backbone.weights.format;

import java.math.BigInteger;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.gramian.backbone.weights.format.PickledValue.Dictionary;
import org.gramian.backbone.weights.format.PickledValue.Function;
import org.gramian.backbone.weights.format.PickledValue.None;
import org.gramian.backbone.weights.format.PickledValue.Real;
import org.gramian.backbone.weights.format.PickledValue.Row;
import org.gramian.backbone.weights.format.PickledValue.Text;
import org.gramian.backbone.weights.format.PickledValue.Truth;
import org.gramian.backbone.weights.format.PickledValue.Whole;
import org.gramian.tensor.file.TensorFileException;
import org.jspecify.annotations.Nullable;

/**
 * Interpreter for the part of Python's pickle language that state dictionaries use (protocols 2 to 5).
 *
 * <p>Python imports and calls what a pickle names. This interpreter knows the functions in {@link PickleFunctions}
 * only, builds plain values, and refuses all others.
 *
 * @see <a href="https://docs.python.org/3/library/pickletools.html">the language</a>
 */
final class PickleReader {
    /** Each operation makes at most one small object; the largest published state dictionaries need under 100,000. */
    static final int MAX_OPERATIONS = 2_000_000;

    static final int MAX_REMEMBERED = 500_000;
    static final int MAX_MARKS = 1000;
    private static final int MAX_INTEGER_BYTES = 16;
    private static final int HIGHEST_PROTOCOL = 5;

    private final Path file;
    private final ByteBuffer bytes;
    private final PickleFunctions functions;
    private final Map<Integer, PickledValue> memo = new HashMap<>();
    /** Stack since the last mark; {@link #aside} holds the parts before. */
    private List<PickledValue> stack = new ArrayList<>();

    private final List<List<PickledValue>> aside = new ArrayList<>();

    private PickleReader(Path file, ByteBuffer bytes, PickleFunctions functions) {
        this.file = file;
        this.bytes = bytes;
        this.functions = functions;
    }

    /** Reads one pickle from the position of the bytes and advances it to the end of the pickle. */
    static PickledValue read(Path file, ByteBuffer bytes, PickleFunctions functions) throws TensorFileException {
        PickleReader reader = new PickleReader(file, bytes.order(ByteOrder.LITTLE_ENDIAN), functions);
        try {
            return reader.run();
        } catch (BufferUnderflowException e) {
            throw new TensorFileException(
                    file, "expected the rest of a pickle, found its end after " + bytes.limit() + " bytes", e);
        }
    }

    private PickledValue run() throws TensorFileException {
        for (int count = 0; count < MAX_OPERATIONS; count++) {
            int operation = Byte.toUnsignedInt(bytes.get());
            if (operation == '.') {
                return pop();
            }
            PickledValue literal = literal(operation);
            if (literal == null) {
                act(operation);
            } else {
                push(literal);
            }
        }
        throw fault("expected at most " + MAX_OPERATIONS + " operations, found more");
    }

    /** Returns the value that an operation pushes without reading the stack, or null for other operations. */
    private @Nullable PickledValue literal(int operation) throws TensorFileException {
        return switch (operation) {
            case 'N' -> None.NONE;
            case 0x88 -> new Truth(true);
            case 0x89 -> new Truth(false);
            case 'J' -> whole(bytes.getInt());
            case 'K' -> whole(length1());
            case 'M' -> whole(Short.toUnsignedInt(bytes.getShort()));
            case 0x8a -> new Whole(integer(length1()));
            case 'G' -> new Real(Double.longBitsToDouble(Long.reverseBytes(bytes.getLong())));
            case 'X' -> text(Integer.toUnsignedLong(bytes.getInt()));
            case 0x8c -> text(length1());
            case 0x8d -> text(bytes.getLong());
            case 'U' -> new Text(latin(length1()));
            case 'T' -> new Text(latin(bytes.getInt()));
            case '}' -> new Dictionary();
            case ']', ')' -> new Row(new ArrayList<>());
            case 'c' -> functions.find(line(), line());
            case 'h' -> remembered(length1());
            case 'j' -> remembered(bytes.getInt());
            default -> null;
        };
    }

    private void act(int operation) throws TensorFileException {
        switch (operation) {
            case 0x80 -> requireProtocol(length1());
            case 0x95 -> bytes.getLong(); // a frame's length, of use to streams only
            case '(' -> mark();
            case 'q' -> remember(length1());
            case 'r' -> remember(bytes.getInt());
            case 0x94 -> remember(memo.size());
            case 't', 'l' -> push(new Row(sinceMark()));
            case 0x85 -> push(new Row(last(1)));
            case 0x86 -> push(new Row(last(2)));
            case 0x87 -> push(new Row(last(3)));
            case 'a' -> append(last(1));
            case 'e' -> append(sinceMark());
            case 's' -> put(last(2));
            case 'u' -> put(sinceMark());
            case 'd' -> {
                List<PickledValue> entries = sinceMark();
                push(new Dictionary());
                put(entries);
            }
            case 'Q' -> push(functions.storage(pop()));
            case 0x93 -> findOnStack(last(2));
            case 'R' -> call(last(2));
            case 'b' -> build(pop());
            default -> throw fault("expected an operation of a state dictionary, found 0x%02x".formatted(operation));
        }
    }

    private void requireProtocol(int protocol) throws TensorFileException {
        if (protocol > HIGHEST_PROTOCOL) {
            throw fault("expected pickle protocol 2 to " + HIGHEST_PROTOCOL + ", found " + protocol);
        }
    }

    private void mark() throws TensorFileException {
        if (aside.size() == MAX_MARKS) {
            throw fault("expected at most " + MAX_MARKS + " containers inside each other, found more");
        }
        aside.add(stack);
        stack = new ArrayList<>();
    }

    private List<PickledValue> sinceMark() throws TensorFileException {
        if (aside.isEmpty()) {
            throw fault("expected a mark, found none");
        }
        List<PickledValue> items = stack;
        stack = aside.removeLast();
        return items;
    }

    private List<PickledValue> last(int count) throws TensorFileException {
        if (stack.size() < count) {
            throw fault("expected " + count + " values on the stack, found " + stack.size());
        }
        List<PickledValue> tail = stack.subList(stack.size() - count, stack.size());
        List<PickledValue> items = new ArrayList<>(tail);
        tail.clear();
        return items;
    }

    /** Not {@code stack.add(...)}: its argument may replace the stack. */
    private void push(PickledValue value) {
        stack.add(value);
    }

    private PickledValue pop() throws TensorFileException {
        return last(1).getFirst();
    }

    private PickledValue top() throws TensorFileException {
        if (stack.isEmpty()) {
            throw fault("expected a value on the stack, found none");
        }
        return stack.getLast();
    }

    private void remember(int index) throws TensorFileException {
        if (memo.size() == MAX_REMEMBERED) {
            throw fault("expected at most " + MAX_REMEMBERED + " memo entries, found more");
        }
        memo.put(index, top());
    }

    private PickledValue remembered(int index) throws TensorFileException {
        PickledValue value = memo.get(index);
        if (value == null) {
            throw fault("expected memo entry " + index + ", found none");
        }
        return value;
    }

    private void append(List<PickledValue> items) throws TensorFileException {
        if (!(top() instanceof Row row)) {
            throw fault("expected a list to append to, found something else");
        }
        row.items().addAll(items);
    }

    private void put(List<PickledValue> entries) throws TensorFileException {
        if (!(top() instanceof Dictionary dictionary) || entries.size() % 2 != 0) {
            throw fault("expected a dictionary and pairs for it, found something else");
        }
        for (int i = 0; i < entries.size(); i += 2) {
            PickledValue key = entries.get(i);
            if (key instanceof Row || key instanceof Dictionary || key instanceof PickledValue.View) {
                throw fault("expected text or a number as a key of a dictionary, found a container");
            }
            if (key instanceof Text name) {
                functions.requireShort(name);
            }
            dictionary.entries().put(key, entries.get(i + 1));
        }
    }

    private void findOnStack(List<PickledValue> names) throws TensorFileException {
        if (!(names.getFirst() instanceof Text module) || !(names.getLast() instanceof Text name)) {
            throw fault("expected the name of a function, found something else");
        }
        push(functions.find(module.value(), name.value()));
    }

    private void call(List<PickledValue> parts) throws TensorFileException {
        if (!(parts.getFirst() instanceof Function function) || !(parts.getLast() instanceof Row arguments)) {
            throw fault("expected a function and its arguments, found something else");
        }
        push(functions.call(function, arguments.items()));
    }

    /** An ordered dictionary carries the versions of its modules as an attribute, which no tensor needs. */
    private void build(PickledValue state) throws TensorFileException {
        if (!(top() instanceof Dictionary) || !(state instanceof Dictionary)) {
            throw fault("expected attributes of an ordered dictionary, found those of something else");
        }
    }

    private int length1() {
        return Byte.toUnsignedInt(bytes.get());
    }

    private static Whole whole(long value) {
        return new Whole(BigInteger.valueOf(value));
    }

    private BigInteger integer(int length) throws TensorFileException {
        if (length > MAX_INTEGER_BYTES) {
            throw fault("expected a number of at most " + MAX_INTEGER_BYTES + " bytes, found " + length);
        }
        byte[] littleEndian = take(length);
        byte[] bigEndian = new byte[length];
        for (int i = 0; i < length; i++) {
            bigEndian[i] = littleEndian[length - 1 - i];
        }
        return length == 0 ? BigInteger.ZERO : new BigInteger(bigEndian);
    }

    private Text text(long length) throws TensorFileException {
        try {
            return new Text(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(take(length)))
                    .toString());
        } catch (CharacterCodingException e) {
            throw new TensorFileException(file, at("expected text in UTF-8, found other bytes"), e);
        }
    }

    private String latin(int length) {
        return new String(take(length), StandardCharsets.ISO_8859_1);
    }

    private String line() throws TensorFileException {
        StringBuilder line = new StringBuilder();
        for (int c = length1(); c != '\n'; c = length1()) {
            if (line.length() == 1000) {
                throw fault("expected a name of at most 1000 characters, found more");
            }
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
        return new TensorFileException(file, at(problem));
    }

    private String at(String problem) {
        return "its pickle is not understood at byte " + bytes.position() + ": " + problem;
    }
}
