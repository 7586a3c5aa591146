package org.gramian.spark.executor;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.AccessControlException;
import org.apache.spark.sql.Row;
import org.apache.spark.util.SerializableConfiguration;
import org.gramian.image.PictureContent;
import org.gramian.image.PictureLimits;
import org.gramian.image.PictureReader;
import org.gramian.image.Reading;
import org.gramian.image.Reading.Problem;
import org.gramian.image.Reading.Unreadable;
import org.jspecify.annotations.Nullable;

/**
 * The column of a table that holds pictures: it has their bytes, or their paths in any file system that Hadoop knows.
 *
 * <p>Whatever is wrong with a picture is a {@link Unreadable}, in the words of {@link PictureReader}.
 *
 * @param index of the column
 * @param hadoop how file systems are reached
 */
public record PictureColumn(int index, SerializableConfiguration hadoop) implements Serializable {
    private static final PictureReader READER = new PictureReader(PictureLimits.DEFAULT);

    /** Reads the picture of a row. */
    public Reading read(Row row) {
        @Nullable Object cell = row.get(index);
        return switch (cell) {
            case null -> new Unreadable(Problem.EMPTY, "expected a picture, found null");
            case byte[] bytes -> READER.read(bytes);
            case String path -> readPath(path);
            default -> throw new IllegalArgumentException("expected bytes or a path, found " + cell.getClass());
        };
    }

    /** Bytes of a picture that a row holds in memory. */
    public long bytes(Row row) {
        return row.get(index) instanceof byte[] bytes ? bytes.length : 0;
    }

    private Reading readPath(String text) {
        try {
            Path path = new Path(text);
            FileSystem files = path.getFileSystem(hadoop.value());
            return "file".equals(files.getUri().getScheme())
                    ? READER.read(
                            java.nio.file.Path.of(files.makeQualified(path).toUri()))
                    : READER.read(new Remote(files, path));
        } catch (IOException | IllegalArgumentException | UnsupportedOperationException failed) {
            return new Unreadable(
                    Problem.INACCESSIBLE, "expected the path of a file, found: " + String.valueOf(failed.getMessage()));
        }
    }

    /** A file elsewhere; what is wrong with it is thrown as Java throws it of files here. */
    private record Remote(FileSystem files, Path path) implements PictureContent {
        @Override
        public long size() throws IOException {
            try {
                return files.getFileStatus(path).getLen();
            } catch (FileNotFoundException missing) {
                throw named(new NoSuchFileException(path.toString()), missing);
            } catch (AccessControlException denied) {
                throw named(new AccessDeniedException(path.toString()), denied);
            }
        }

        @Override
        public byte[] bytes() throws IOException {
            try (InputStream stream = files.open(path)) {
                return stream.readAllBytes();
            } catch (AccessControlException denied) {
                throw named(new AccessDeniedException(path.toString()), denied);
            }
        }

        private static IOException named(IOException named, IOException cause) {
            named.initCause(cause);
            return named;
        }
    }
}
