package org.gramian.image;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The decoder of libjpeg-turbo, if that is installed. It decodes a JPEG at 1/2, 1/4 or 1/8 of its size: from blocks of 8×8
 * cosine coefficients it computes 4×4, 2×2 or 1×1 pixels, which are close to the means of those that they replace.
 */
final class TurboJpeg {
    /** Numbers by which sides can be divided, largest first. */
    private static final int[] DIVISORS = {8, 4, 2};

    /** Sides are at least this many times what is wanted, so that the resizing that follows decides about the result. */
    private static final int MARGIN = 2;

    private static final List<String> LIBRARIES =
            List.of("libturbojpeg.so.0", "libturbojpeg.0.dylib", "libturbojpeg.dylib", "turbojpeg.dll");

    private static final int RGB = 0; // TJPF_RGB
    private static final int STOP_ON_WARNING = 8192; // TJFLAG_STOPONWARNING

    private static final class Library {
        static final Optional<TurboJpeg> INSTALLED = find();

        private static Optional<TurboJpeg> find() {
            for (String name : LIBRARIES) {
                try {
                    return Optional.of(new TurboJpeg(SymbolLookup.libraryLookup(name, Arena.global())));
                } catch (IllegalArgumentException _) {
                    // not installed, or without these functions
                }
            }
            return Optional.empty();
        }
    }

    private final MethodHandle open;
    private final MethodHandle decompress;
    private final MethodHandle close;

    private TurboJpeg(SymbolLookup library) {
        Linker linker = Linker.nativeLinker();
        Map<String, MemoryLayout> types = linker.canonicalLayouts();
        MemoryLayout size = types.getOrDefault("long", JAVA_INT); // of 32 bits on Windows
        open = function(linker, library, "tjInitDecompress", FunctionDescriptor.of(ADDRESS));
        decompress = function(
                linker,
                library,
                "tjDecompress2",
                FunctionDescriptor.of(
                        JAVA_INT, ADDRESS, ADDRESS, size, ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
        close = function(linker, library, "tjDestroy", FunctionDescriptor.of(JAVA_INT, ADDRESS));
    }

    private static MethodHandle function(Linker linker, SymbolLookup library, String name, FunctionDescriptor type) {
        MemorySegment address = library.find(name).orElseThrow(() -> new IllegalArgumentException(name));
        MethodHandle handle = linker.downcallHandle(address, type);
        return handle.type().parameterCount() < 3
                ? handle
                : MethodHandles.explicitCastArguments(handle, handle.type().changeParameterType(2, long.class));
    }

    /** Returns the decoder; empty where libjpeg-turbo is not installed. */
    static Optional<TurboJpeg> installed() {
        return Library.INSTALLED;
    }

    /** Returns 8, 4, 2 or 1, by which the sides of an image are divided that will be resized to a short side of {@code wanted}. */
    static int divisor(int shorter, int wanted) {
        for (int divisor : DIVISORS) {
            if (shorter >= (long) MARGIN * divisor * wanted) {
                return divisor;
            }
        }
        return 1;
    }

    /**
     * Decodes at a part of the size.
     *
     * @param content gray or YCbCr, 8 bits
     * @return the image; empty if the decoder fails or warns, so that another one decides about the file
     */
    Optional<Image> decode(byte[] content, int width, int height, int divisor) {
        int columns = Math.ceilDiv(width, divisor);
        int rows = Math.ceilDiv(height, divisor);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment decoder = (MemorySegment) open.invokeExact();
            if (decoder.equals(MemorySegment.NULL)) {
                return Optional.empty();
            }
            try {
                MemorySegment jpeg = arena.allocateFrom(JAVA_BYTE, content);
                MemorySegment pixels = arena.allocate(3L * columns * rows);
                int failed = (int) decompress.invokeExact(
                        decoder, jpeg, (long) content.length, pixels, columns, 0, rows, RGB, STOP_ON_WARNING);
                return failed != 0
                        ? Optional.empty()
                        : Optional.of(new Image(columns, rows, pixels.toArray(JAVA_BYTE)));
            } finally {
                int _ = (int) close.invokeExact(decoder);
            }
        } catch (RuntimeException | Error failed) {
            throw failed;
        } catch (Throwable impossible) {
            throw new IllegalStateException(impossible); // the functions throw nothing
        }
    }
}
