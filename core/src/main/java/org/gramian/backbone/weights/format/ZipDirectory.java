package org.gramian.backbone.weights.format;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.file.TensorFileException;
import org.jspecify.annotations.Nullable;

/**
 * Entries of a zip archive in mapped memory. An uncompressed entry is a view of the file; {@link java.util.zip.ZipFile}
 * would copy up to half a gigabyte.
 *
 * @see <a href="https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT">the format</a>
 */
final class ZipDirectory {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static final int END = 0x06054b50;
    private static final int END_BYTES = 22;
    private static final int MAX_COMMENT = 0xffff;
    private static final int END_64 = 0x06064b50;
    private static final int LOCATOR_64 = 0x07064b50;
    private static final int LOCATOR_64_BYTES = 20;
    private static final int CENTRAL = 0x02014b50;
    private static final int CENTRAL_BYTES = 46;
    private static final int LOCAL = 0x04034b50;
    private static final int LOCAL_BYTES = 30;
    private static final int STORED = 0;
    private static final int DEFLATED = 8;
    private static final long IN_EXTRA = 0xffffffffL;
    private static final int CHUNK = 1 << 20;

    private final Path path;
    private final MemorySegment bytes;
    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private final FileLimits allowance;

    private ZipDirectory(Path path, MemorySegment bytes) {
        this.path = path;
        this.bytes = bytes;
        this.allowance = new FileLimits(path, bytes.byteSize());
    }

    /** Directory entry. */
    record Entry(String name, int method, Extent extent, int checksum) {
        /** Returns the unpacked size in bytes. */
        long size() {
            return extent.size;
        }
    }

    /** Sizes and position of an entry: packed bytes, unpacked bytes, offset of its header. */
    record Extent(long packed, long size, long header) {}

    static ZipDirectory read(Path path, MemorySegment bytes) throws TensorFileException {
        ZipDirectory zip = new ZipDirectory(path, bytes);
        try {
            zip.readEntries();
        } catch (IndexOutOfBoundsException e) {
            throw new TensorFileException(path, "is a damaged zip archive: its directory points outside the file", e);
        }
        return zip;
    }

    Set<String> names() {
        return entries.keySet();
    }

    Entry get(String name) throws TensorFileException {
        @Nullable Entry entry = entries.get(name);
        if (entry == null) {
            throw fault("expected an entry " + QuotedText.text(name) + " in the zip archive, found none");
        }
        return entry;
    }

    TensorFileException fault(String problem) {
        return new TensorFileException(path, problem);
    }

    private void readEntries() throws TensorFileException {
        long end = end();
        long count = unsigned(SHORT, end + 10);
        long position = unsigned(INT, end + 16);
        long locator = end - LOCATOR_64_BYTES;
        if (locator >= 0 && bytes.get(INT, locator) == LOCATOR_64) {
            long end64 = bytes.get(LONG, locator + 8);
            if (bytes.get(INT, end64) != END_64) {
                throw fault("is a damaged zip archive: its 64-bit directory is not at the expected position");
            }
            count = bytes.get(LONG, end64 + 32);
            position = bytes.get(LONG, end64 + 48);
        }
        if (count < 0 || count > FileLimits.ENTRIES) {
            throw fault("expected at most " + FileLimits.ENTRIES + " entries in the zip archive, found "
                    + Long.toUnsignedString(count));
        }
        for (long i = 0; i < count; i++) {
            position = readEntry(position);
        }
    }

    private long end() throws TensorFileException {
        long last = bytes.byteSize() - END_BYTES;
        for (long at = last; at >= Math.max(0, last - MAX_COMMENT); at--) {
            if (bytes.get(INT, at) == END) {
                return at;
            }
        }
        throw fault("is a truncated zip archive: expected a directory at its end, found none");
    }

    private long readEntry(long position) throws TensorFileException {
        if (bytes.get(INT, position) != CENTRAL) {
            throw fault("is a damaged zip archive: expected an entry of its directory at byte " + position);
        }
        if ((bytes.get(SHORT, position + 8) & 1) != 0) {
            throw fault("expected a zip archive without encryption, found an encrypted entry");
        }
        long nameLength = unsigned(SHORT, position + 28);
        long extraLength = unsigned(SHORT, position + 30);
        long commentLength = unsigned(SHORT, position + 32);
        long nameStart = position + CENTRAL_BYTES;
        String name =
                new String(bytes.asSlice(nameStart, nameLength).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
        Extent extent = extent(position, bytes.asSlice(nameStart + nameLength, extraLength));
        int method = bytes.get(SHORT, position + 10);
        Entry entry = new Entry(name, method, extent, bytes.get(INT, position + 16));
        if (entries.put(name, entry) != null) {
            throw fault("expected every name once in the zip archive, found " + QuotedText.text(name) + " twice");
        }
        return nameStart + nameLength + extraLength + commentLength;
    }

    /** Reads sizes and position; 64-bit values are stored in an extra field, in this order. */
    private Extent extent(long position, MemorySegment extra) {
        long packed = unsigned(INT, position + 20);
        long size = unsigned(INT, position + 24);
        long header = unsigned(INT, position + 42);
        long at = extra64(extra);
        if (size == IN_EXTRA && at >= 0) {
            size = extra.get(LONG, at);
            at += Long.BYTES;
        }
        if (packed == IN_EXTRA && at >= 0) {
            packed = extra.get(LONG, at);
            at += Long.BYTES;
        }
        if (header == IN_EXTRA && at >= 0) {
            header = extra.get(LONG, at);
        }
        return new Extent(packed, size, header);
    }

    private static long extra64(MemorySegment extra) {
        long at = 0;
        while (at + 4 <= extra.byteSize()) {
            if (extra.get(SHORT, at) == 1) {
                return at + 4;
            }
            at += 4 + Short.toUnsignedLong(extra.get(SHORT, at + 2));
        }
        return -1;
    }

    /** Returns the unpacked content, verified by its checksum: a view of the file, or a copy if it was compressed. */
    MemorySegment content(Entry entry, Arena arena) throws TensorFileException {
        MemorySegment packed;
        try {
            long header = entry.extent.header;
            if (bytes.get(INT, header) != LOCAL) {
                throw fault("is a damaged zip archive: " + QuotedText.text(entry.name)
                        + " is not at the expected position");
            }
            long start = header + LOCAL_BYTES + unsigned(SHORT, header + 26) + unsigned(SHORT, header + 28);
            packed = bytes.asSlice(start, entry.extent.packed);
        } catch (IndexOutOfBoundsException e) {
            throw new TensorFileException(
                    path, "is truncated: " + QuotedText.text(entry.name) + " lies beyond its end", e);
        }
        requireBounded(entry, packed.byteSize());
        MemorySegment content = switch (entry.method) {
            case STORED -> packed;
            case DEFLATED -> inflated(entry, packed, arena);
            default ->
                throw fault("expected %s stored or deflated, found compression method %d"
                        .formatted(QuotedText.text(entry.name), entry.method));
        };
        if (content.byteSize() != entry.size()) {
            throw fault("expected %d bytes in %s, found %d"
                    .formatted(entry.size(), QuotedText.text(entry.name), content.byteSize()));
        }
        if (checksum(content) != entry.checksum) {
            throw fault("is damaged: the content of " + QuotedText.text(entry.name)
                    + " does not match its checksum; download the file again, or save it with checksums");
        }
        return content;
    }

    /** Checks the limits of an entry and of the whole file. */
    private void requireBounded(Entry entry, long packed) throws TensorFileException {
        long size = entry.size();
        if (size < 0 || size > FileLimits.unpacked(packed)) {
            throw fault("%s would unpack from %d to %s bytes, too much for weights: refused"
                    .formatted(QuotedText.text(entry.name), packed, Long.toUnsignedString(size)));
        }
        allowance.allocate(entry.name, size);
    }

    private MemorySegment inflated(Entry entry, MemorySegment packed, Arena arena) throws TensorFileException {
        MemorySegment content = arena.allocate(entry.size(), Long.BYTES);
        try (Inflater inflater = new Inflater(true)) {
            inflater.setInput(packed.asByteBuffer());
            ByteBuffer target = content.asByteBuffer();
            int inflated;
            do {
                inflated = inflater.inflate(target);
            } while (inflated > 0 && target.hasRemaining());
            return content.asSlice(0, target.position());
        } catch (DataFormatException e) {
            throw new TensorFileException(path, QuotedText.text(entry.name) + " is damaged: " + e.getMessage(), e);
        } catch (UnsupportedOperationException e) {
            throw new TensorFileException(
                    path,
                    QuotedText.text(entry.name) + " is compressed and larger than 2 GiB; save it uncompressed",
                    e);
        }
    }

    private static int checksum(MemorySegment content) {
        CRC32 crc = new CRC32();
        for (long at = 0; at < content.byteSize(); at += CHUNK) {
            crc.update(content.asSlice(at, Math.min(CHUNK, content.byteSize() - at))
                    .asByteBuffer());
        }
        return (int) crc.getValue();
    }

    private long unsigned(ValueLayout layout, long at) {
        return layout instanceof ValueLayout.OfShort half
                ? Short.toUnsignedLong(bytes.get(half, at))
                : Integer.toUnsignedLong(bytes.get(INT, at));
    }
}
