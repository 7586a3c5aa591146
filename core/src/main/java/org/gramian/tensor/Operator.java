package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.Optional;
import org.gramian.tensor.library.Libtorch;
import org.gramian.tensor.library.NativeErrors;
import org.jspecify.annotations.Nullable;

/**
 * ATen operator, called by name through libtorch's dispatcher.
 *
 * <p>Arguments travel as 64-bit words on a small stack: a tensor is a handle that the dispatcher takes over (so it is
 * duplicated first), {@code long}, {@code double} and {@code boolean} are their bits, {@code null} is an absent
 * optional, {@link Optional} a present one in malloc'd memory that the dispatcher frees, and, from libtorch 2.10 on,
 * {@code long[]} and {@link String} are handles on a list and a text.
 *
 * @since 0.1
 */
public final class Operator {
    private static final int STACK = 16;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final Libtorch LIBTORCH = Libtorch.load();

    private static final MethodHandle CALL = LIBTORCH.hasLists()
            ? Since210.current()
            : LINKER.downcallHandle(
                    LIBTORCH.symbol("aoti_torch_call_dispatcher"),
                    FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
    private static final MethodHandle MALLOC = LINKER.downcallHandle(
            LINKER.defaultLookup().find("malloc").orElseThrow(), FunctionDescriptor.of(ADDRESS, JAVA_LONG));
    private static final ThreadLocal<MemorySegment> STACKS =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(JAVA_LONG, STACK));

    private final String name;
    private final MemorySegment operator;
    private final MemorySegment overload;

    private Operator(String name, String overload) {
        this.name = overload.isEmpty() ? name : name + "." + overload;
        this.operator = Arena.global().allocateFrom("aten::" + name);
        this.overload = Arena.global().allocateFrom(overload);
    }

    /** Functions of libtorch 2.10 and later. */
    private static final class Since210 {
        static final MethodHandle NEW_LIST = LINKER.downcallHandle(
                LIBTORCH.symbol("torch_new_list_reserve_size"), FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS));
        static final MethodHandle PUSH = LINKER.downcallHandle(
                LIBTORCH.symbol("torch_list_push_back"), FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));
        static final MethodHandle NEW_STRING = LINKER.downcallHandle(
                LIBTORCH.symbol("torch_new_string_handle"),
                FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS));

        /** Returns the dispatcher of 2.10 with its last argument bound to the version of the library. */
        static MethodHandle current() {
            MethodHandle call = LINKER.downcallHandle(
                    LIBTORCH.symbol("torch_call_dispatcher"),
                    FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG));
            return MethodHandles.insertArguments(call, 3, LIBTORCH.abiVersion());
        }
    }

    /** Returns the operator {@code aten::name.overload}; the default overload is empty. */
    public static Operator of(String name, String overload) {
        return new Operator(name, overload);
    }

    /** Returns the operator {@code aten::name} without an overload. */
    public static Operator of(String name) {
        return new Operator(name, "");
    }

    /** Calls an operator of one result. */
    public Tensor call(@Nullable Object... arguments) {
        return results(1, arguments)[0];
    }

    /** Calls an in-place operator and returns its first argument. */
    public Tensor inPlace(Tensor target, @Nullable Object... others) {
        @Nullable Object[] arguments = new @Nullable Object[others.length + 1];
        arguments[0] = target;
        System.arraycopy(others, 0, arguments, 1, others.length);
        Native.delete(MemorySegment.ofAddress(invoke(1, arguments).get(JAVA_LONG, 0)));
        return target;
    }

    /** Calls an operator of several results. */
    public Tensor[] results(int count, @Nullable Object... arguments) {
        MemorySegment stack = invoke(count, arguments);
        MemorySegment[] handles = new MemorySegment[count];
        for (int i = 0; i < count; i++) {
            handles[i] = MemorySegment.ofAddress(stack.getAtIndex(JAVA_LONG, i));
        }
        Tensor[] tensors = new Tensor[count];
        for (int i = 0; i < count; i++) {
            tensors[i] = new Tensor(handles[i]);
        }
        return tensors;
    }

    private MemorySegment invoke(int results, @Nullable Object[] arguments) {
        if (Math.max(results, arguments.length) > STACK) {
            throw new IllegalArgumentException(name + ": at most " + STACK + " arguments, found " + arguments.length);
        }
        for (Object argument : arguments) {
            if (argument instanceof Tensor tensor) {
                tensor.handle(); // a freed argument must be found before any other is duplicated
            }
        }
        MemorySegment stack = STACKS.get();
        try {
            for (int i = 0; i < arguments.length; i++) {
                stack.setAtIndex(JAVA_LONG, i, word(arguments[i]));
            }
            int code = (int) CALL.invokeExact(operator, overload, stack);
            if (code != 0) {
                throw NativeErrors.of(name, arguments);
            }
            return stack;
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }

    private static long word(@Nullable Object argument) throws Throwable {
        return switch (argument) {
            case null -> 0L;
            case Tensor tensor -> Native.duplicate(tensor.handle()).address();
            case Long number -> number;
            case Integer number -> number.longValue();
            case Double number -> Double.doubleToRawLongBits(number);
            case Boolean truth -> truth ? 1L : 0L;
            case Optional<?> present -> optional(present.orElseThrow());
            case long[] list -> list(list);
            case String text -> text(text);
            default -> throw new IllegalArgumentException("no operator takes a " + argument.getClass());
        };
    }

    private static long optional(Object value) throws Throwable {
        long word = word(value);
        MemorySegment cell = ((MemorySegment) MALLOC.invokeExact(8L)).reinterpret(8);
        cell.set(JAVA_LONG, 0, word);
        return cell.address();
    }

    private static long list(long[] values) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment word = arena.allocate(ADDRESS);
            NativeErrors.check((int) Since210.NEW_LIST.invokeExact((long) values.length, word), "list");
            MemorySegment list = word.get(ADDRESS, 0);
            for (long value : values) {
                NativeErrors.check((int) Since210.PUSH.invokeExact(list, value), "list");
            }
            return list.address();
        }
    }

    private static long text(String text) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment word = arena.allocate(ADDRESS);
            NativeErrors.check(
                    (int) Since210.NEW_STRING.invokeExact(arena.allocateFrom(text), (long) text.length(), word),
                    "text");
            return word.get(ADDRESS, 0).address();
        }
    }
}
