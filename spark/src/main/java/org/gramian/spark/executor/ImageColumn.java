package org.gramian.spark.executor;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.AccessControlException;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageContent;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ReadResult;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;
import org.jspecify.annotations.Nullable;

/**
 * Column of images: bytes, or paths in any Hadoop file system.
 *
 * <p>An error of an image is an {@link Unreadable}, with the messages of {@link ImageReader}; an error of the file system fails the
 * task, unless it is the last attempt.
 */
public record ImageColumn(int index, SerializableConfiguration hadoop) implements Serializable {
    private static final ImageReader READER = new ImageReader(ImageLimits.DEFAULT);

    /** Returns a column with the file systems of a session. */
    public static ImageColumn of(int index, SparkSession session) {
        return new ImageColumn(
                index, new SerializableConfiguration(session.sessionState().newHadoopConf()));
    }

    /**
     * Reads the image of a row.
     *
     * @param last whether this is the last attempt: a file system that fails is then the image's error
     */
    public ReadResult read(Row row, boolean last) {
        @Nullable Object cell = row.get(index);
        return switch (cell) {
            case null -> new Unreadable(Problem.EMPTY, "expected an image, found null");
            case byte[] bytes -> READER.read(bytes);
            case String path -> readPath(path, last);
            default -> throw new IllegalArgumentException("expected bytes or a path, found " + cell.getClass());
        };
    }

    /** Returns the column of a name that may contain dots, which Spark takes for fields within a column otherwise. */
    public static Column named(String name) {
        return functions.col("`" + name.replace("`", "``") + "`");
    }

    /**
     * Returns a schema with one more column.
     *
     * @throws IllegalArgumentException if it has a column of that name; names are case-insensitive in Spark
     */
    public static StructType appended(StructType schema, String name, DataType type) {
        if (Arrays.stream(schema.fieldNames()).anyMatch(name::equalsIgnoreCase)) {
            throw new IllegalArgumentException("expected a table without the output column '" + name
                    + "'; rename it, or choose another name for the output (--prefix on the command line)");
        }
        return schema.add(name, type);
    }

    /** Returns the values of a row, with room for more. */
    static @Nullable Object[] extended(Row row, int more) {
        @Nullable Object[] values = new Object[row.size() + more];
        for (int i = 0; i < row.size(); i++) {
            values[i] = row.get(i);
        }
        return values;
    }

    /** Returns the bytes of images and texts in all columns of a row. */
    public static long bytes(Row row) {
        long sum = 0;
        for (int i = 0; i < row.size(); i++) {
            sum += switch (row.get(i)) {
                case byte[] bytes -> bytes.length;
                case String text -> text.length();
                case null, default -> 0;
            };
        }
        return sum;
    }

    private ReadResult readPath(String text, boolean last) {
        try {
            Path path = new Path(text);
            FileSystem files = path.getFileSystem(hadoop.value());
            return "file".equals(files.getUri().getScheme())
                    ? READER.read(
                            java.nio.file.Path.of(files.makeQualified(path).toUri()))
                    : READER.read(new Remote(files, path, last));
        } catch (IOException | IllegalArgumentException | UnsupportedOperationException failed) {
            return new Unreadable(
                    Problem.INACCESSIBLE, "expected the path of a file, found: " + String.valueOf(failed.getMessage()));
        }
    }

    /** Remote file. Its errors are thrown as for local files; errors of its file system fail the task before the last attempt. */
    private record Remote(FileSystem files, Path path, boolean last) implements ImageContent {
        @Override
        public long size() throws IOException {
            try {
                return files.getFileStatus(path).getLen();
            } catch (FileNotFoundException missing) {
                throw (IOException) new NoSuchFileException(path.toString()).initCause(missing);
            } catch (IOException failed) {
                throw named(failed);
            }
        }

        @Override
        public byte[] bytes() throws IOException {
            try (InputStream stream = files.open(path)) {
                return stream.readAllBytes();
            } catch (IOException failed) {
                throw named(failed);
            }
        }

        private IOException named(IOException failed) {
            return switch (failed) {
                case AccessControlException _ ->
                    (IOException) new AccessDeniedException(path.toString()).initCause(failed);
                case FileNotFoundException _ -> failed; // a folder, or removed in between
                case IOException _ when last -> failed;
                default -> throw new UncheckedIOException(path + " cannot be read now: " + failed.getMessage(), failed);
            };
        }
    }
}
