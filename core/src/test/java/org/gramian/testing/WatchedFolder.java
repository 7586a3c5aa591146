package org.gramian.testing;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.StandardOpenOption;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * A view of a folder that reports every change of its files: a created, moved, copied or deleted file. What is written into an open file
 * is not reported.
 */
public final class WatchedFolder {
    /** Called after each change, by the thread that made it. */
    @FunctionalInterface
    public interface Listener {
        void changed() throws IOException;
    }

    private final Listener listener;
    private final FileSystemProvider real;
    private final Watched provider = new Watched();
    private final Wrapped files;

    private WatchedFolder(FileSystem system, Listener listener) {
        this.listener = listener;
        this.real = system.provider();
        this.files = new Wrapped(system);
    }

    /** Returns a path whose changes, and those of all files below it, are reported. */
    public static Path of(Path folder, Listener listener) {
        return new WatchedFolder(folder.getFileSystem(), listener).wrap(folder);
    }

    /** The path behind a watched one. */
    private interface HasReal {
        Path real();
    }

    private static Path unwrap(Path path) {
        return path instanceof HasReal watched ? watched.real() : path;
    }

    private Path wrap(Path path) {
        Class<?>[] types = {Path.class, HasReal.class};
        return (Path) Proxy.newProxyInstance(WatchedFolder.class.getClassLoader(), types, (_, method, arguments) -> {
            switch (method.getName()) {
                case "real" -> {
                    return path;
                }
                case "getFileSystem" -> {
                    return files;
                }
                case "iterator" -> {
                    return wrapped(path.iterator());
                }
                default -> {
                    Object[] plain = arguments == null
                            ? new Object[0]
                            : Arrays.stream(arguments)
                                    .map(one -> one instanceof Path other ? unwrap(other) : one)
                                    .toArray();
                    try {
                        Object result = method.invoke(path, plain);
                        return result instanceof Path other ? wrap(other) : result;
                    } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                    }
                }
            }
        });
    }

    private Iterator<Path> wrapped(Iterator<Path> paths) {
        Iterable<Path> all = () -> paths;
        return StreamSupport.stream(all.spliterator(), false).map(this::wrap).iterator();
    }

    private static boolean writes(Set<? extends OpenOption> options) {
        return options.contains(StandardOpenOption.WRITE) || options.contains(StandardOpenOption.APPEND);
    }

    /** The provider of the real files, which reports changes. */
    private final class Watched extends FileSystemProvider {
        @Override
        public String getScheme() {
            return "watched";
        }

        @Override
        public FileSystem newFileSystem(URI uri, Map<String, ?> env) {
            throw new UnsupportedOperationException();
        }

        @Override
        public FileSystem getFileSystem(URI uri) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Path getPath(URI uri) {
            throw new UnsupportedOperationException();
        }

        @Override
        public SeekableByteChannel newByteChannel(
                Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes) throws IOException {
            SeekableByteChannel channel = real.newByteChannel(unwrap(path), options, attributes);
            if (writes(options)) {
                listener.changed();
            }
            return channel;
        }

        @Override
        public FileChannel newFileChannel(Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
                throws IOException {
            FileChannel channel = real.newFileChannel(unwrap(path), options, attributes);
            if (writes(options)) {
                listener.changed();
            }
            return channel;
        }

        @Override
        public DirectoryStream<Path> newDirectoryStream(Path folder, DirectoryStream.Filter<? super Path> filter)
                throws IOException {
            DirectoryStream<Path> found = real.newDirectoryStream(unwrap(folder), path -> filter.accept(wrap(path)));
            return new DirectoryStream<>() {
                @Override
                public Iterator<Path> iterator() {
                    return wrapped(found.iterator());
                }

                @Override
                public void close() throws IOException {
                    found.close();
                }
            };
        }

        @Override
        public void createDirectory(Path folder, FileAttribute<?>... attributes) throws IOException {
            real.createDirectory(unwrap(folder), attributes);
            listener.changed();
        }

        @Override
        public void delete(Path path) throws IOException {
            real.delete(unwrap(path));
            listener.changed();
        }

        @Override
        public void copy(Path source, Path target, CopyOption... options) throws IOException {
            real.copy(unwrap(source), unwrap(target), options);
            listener.changed();
        }

        @Override
        public void move(Path source, Path target, CopyOption... options) throws IOException {
            real.move(unwrap(source), unwrap(target), options);
            listener.changed();
        }

        @Override
        public boolean isSameFile(Path one, Path other) throws IOException {
            return real.isSameFile(unwrap(one), unwrap(other));
        }

        @Override
        public boolean isHidden(Path path) throws IOException {
            return real.isHidden(unwrap(path));
        }

        @Override
        public FileStore getFileStore(Path path) throws IOException {
            return real.getFileStore(unwrap(path));
        }

        @Override
        public void checkAccess(Path path, AccessMode... modes) throws IOException {
            real.checkAccess(unwrap(path), modes);
        }

        @Override
        public <V extends FileAttributeView> @Nullable V getFileAttributeView(
                Path path, Class<V> type, LinkOption... options) {
            return real.getFileAttributeView(unwrap(path), type, options);
        }

        @Override
        public <A extends BasicFileAttributes> A readAttributes(Path path, Class<A> type, LinkOption... options)
                throws IOException {
            return real.readAttributes(unwrap(path), type, options);
        }

        @Override
        public Map<String, Object> readAttributes(Path path, String names, LinkOption... options) throws IOException {
            return real.readAttributes(unwrap(path), names, options);
        }

        @Override
        public void setAttribute(Path path, String name, Object value, LinkOption... options) throws IOException {
            real.setAttribute(unwrap(path), name, value, options);
        }
    }

    /** The file system of watched paths. */
    private final class Wrapped extends FileSystem {
        private final FileSystem system;

        Wrapped(FileSystem system) {
            this.system = system;
        }

        @Override
        public FileSystemProvider provider() {
            return provider;
        }

        @Override
        public void close() {
            // the real one stays open
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public boolean isReadOnly() {
            return false;
        }

        @Override
        public String getSeparator() {
            return system.getSeparator();
        }

        @Override
        public Iterable<Path> getRootDirectories() {
            return () -> wrapped(system.getRootDirectories().iterator());
        }

        @Override
        public Iterable<FileStore> getFileStores() {
            return system.getFileStores();
        }

        @Override
        public Set<String> supportedFileAttributeViews() {
            return system.supportedFileAttributeViews();
        }

        @Override
        public Path getPath(String first, String... more) {
            return wrap(system.getPath(first, more));
        }

        @Override
        public PathMatcher getPathMatcher(String pattern) {
            PathMatcher matcher = system.getPathMatcher(pattern);
            return path -> matcher.matches(unwrap(path));
        }

        @Override
        public UserPrincipalLookupService getUserPrincipalLookupService() {
            return system.getUserPrincipalLookupService();
        }

        @Override
        public WatchService newWatchService() throws IOException {
            return system.newWatchService();
        }
    }
}
