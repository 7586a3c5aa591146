package org.gramian.train.distill;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.gramian.basis.Sha256;
import org.gramian.image.ImageContent;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageNames;
import org.gramian.image.ImageReader;
import org.gramian.image.ReadResult;
import org.gramian.image.dataset.DatasetException;

/**
 * Images without labels: all image files below some folders, and those inside of tar archives there, in the order of their paths.
 *
 * <p>An image of an archive has the path of the archive followed by its name there.
 */
public final class UnlabelledImages {
    private static final int BLOCK = 512;
    private static final int LONGEST_NAME = 1 << 16;

    /** Where the bytes of an image of an archive lie. */
    private record Entry(Path archive, long offset, long size) implements ImageContent {
        @Override
        public byte[] bytes() throws IOException {
            try (FileChannel channel = FileChannel.open(archive)) {
                ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(size));
                readFully(channel, bytes, offset, archive);
                return bytes.array();
            }
        }
    }

    private final List<Path> files;
    private final Map<Path, Entry> archived;
    private final ImageReader reader = new ImageReader(ImageLimits.DEFAULT);

    private UnlabelledImages(List<Path> files, Map<Path, Entry> archived) {
        this.files = List.copyOf(files);
        this.archived = archived;
    }

    /**
     * Lists the images of folders, archives and single files.
     *
     * @throws DatasetException if a place does not exist, an archive is damaged, or there are fewer than 2 images
     */
    public static UnlabelledImages of(List<Path> places) throws IOException {
        List<Path> files = new ArrayList<>();
        Map<Path, Entry> archived = new LinkedHashMap<>();
        for (Path place : places) {
            if (!Files.exists(place)) {
                throw new DatasetException(place, "expected a folder of images or a tar file, found nothing");
            }
            List<Path> found = new ArrayList<>();
            Files.walkFileTree(
                    place, EnumSet.of(FileVisitOption.FOLLOW_LINKS), Integer.MAX_VALUE, new SimpleFileVisitor<Path>() {
                        @Override
                        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                            String name = String.valueOf(file.getFileName());
                            if (attributes.isRegularFile() && (isArchive(name) || ImageNames.isImage(name))) {
                                found.add(file);
                            }
                            return FileVisitResult.CONTINUE;
                        }
                    });
            found.sort(Comparator.comparing(Path::toString));
            for (Path file : found) {
                if (isArchive(String.valueOf(file.getFileName()))) {
                    Map<Path, Entry> inside = entries(file);
                    files.addAll(inside.keySet());
                    archived.putAll(inside);
                } else {
                    files.add(file);
                }
            }
        }
        if (files.size() < 2) {
            throw new DatasetException(
                    places.getFirst(), "expected at least 2 images to learn from, found " + files.size());
        }
        return new UnlabelledImages(files, archived);
    }

    private static boolean isArchive(String name) {
        return name.toLowerCase(Locale.ROOT).endsWith(".tar") && !ImageNames.isHidden(name);
    }

    /** Returns the paths, unique unless a place is named twice. */
    public List<Path> files() {
        return files;
    }

    /** Decodes an image; called by many threads at once. */
    public ReadResult read(Path file) {
        Entry entry = archived.get(file);
        return entry == null ? reader.read(file) : reader.read(entry);
    }

    /** Returns a SHA-256 of names and sizes, by which a checkpoint knows its images. */
    public String fingerprint() throws IOException {
        StringBuilder list = new StringBuilder();
        for (Path file : files) {
            Entry entry = archived.get(file);
            list.append(file.getFileName())
                    .append(' ')
                    .append(entry == null ? Files.size(file) : entry.size)
                    .append('\n');
        }
        return Sha256.hex(Sha256.of(list.toString().getBytes(StandardCharsets.UTF_8)));
    }

    /** Reads the table of a tar archive (POSIX ustar, with GNU's long names; compressed archives are not supported). */
    private static Map<Path, Entry> entries(Path archive) throws IOException {
        Map<Path, Entry> entries = new LinkedHashMap<>();
        try (FileChannel channel = FileChannel.open(archive)) {
            ByteBuffer header = ByteBuffer.allocate(BLOCK);
            String longName = "";
            long at = 0;
            while (at + BLOCK <= channel.size()) {
                readFully(channel, header.clear(), at, archive);
                byte[] bytes = header.array();
                if (bytes[0] == 0) {
                    break; // the end is marked by blocks of zeros
                }
                long size = octal(bytes, archive);
                if (at + BLOCK + size > channel.size()) {
                    throw new DatasetException(archive, "expected a whole tar file, found that its end is missing");
                }
                char kind = (char) bytes[156];
                if (kind == 'L') { // GNU: the content is the name of the next entry
                    ByteBuffer name = ByteBuffer.allocate((int) Math.min(size, LONGEST_NAME));
                    readFully(channel, name, at + BLOCK, archive);
                    longName = text(name.array(), 0, name.capacity());
                } else {
                    String prefix = text(bytes, 345, 155);
                    String name = text(bytes, 0, 100);
                    String full = !longName.isEmpty() ? longName : prefix.isEmpty() ? name : prefix + "/" + name;
                    longName = "";
                    String last = full.substring(full.lastIndexOf('/') + 1);
                    if ((kind == '0' || kind == 0) && ImageNames.isImage(last)) {
                        entries.put(
                                archive.resolve(full.replaceFirst("^(\\.?/)+", "")),
                                new Entry(archive, at + BLOCK, size));
                    }
                }
                at += BLOCK + Math.ceilDiv(size, BLOCK) * BLOCK;
            }
        }
        return entries;
    }

    private static void readFully(FileChannel channel, ByteBuffer target, long offset, Path file) throws IOException {
        long at = offset;
        while (target.hasRemaining()) {
            int read = channel.read(target, at);
            if (read < 0) {
                throw new DatasetException(file, "expected more bytes, found the end of the file");
            }
            at += read;
        }
    }

    private static long octal(byte[] header, Path archive) throws DatasetException {
        String digits = text(header, 124, 12).strip();
        if (!digits.matches("[0-7]{1,11}")) {
            throw new DatasetException(archive, "expected an uncompressed tar file, found something else");
        }
        return Long.parseLong(digits, 8);
    }

    private static String text(byte[] bytes, int start, int most) {
        int end = start;
        while (end < start + most && bytes[end] != 0) {
            end++;
        }
        return new String(bytes, start, end - start, StandardCharsets.UTF_8);
    }
}
