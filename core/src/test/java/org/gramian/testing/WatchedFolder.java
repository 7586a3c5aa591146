package org.gramian.testing;

import static net.bytebuddy.matcher.ElementMatchers.isDeclaredBy;
import static net.bytebuddy.matcher.ElementMatchers.isPublic;
import static net.bytebuddy.matcher.ElementMatchers.not;

import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystem;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.implementation.InvocationHandlerAdapter;
import org.jspecify.annotations.Nullable;

/**
 * A view of a folder that reports every change of its files: a created, moved, copied or deleted file. What is written into an open file
 * is not reported.
 */
public final class WatchedFolder {
    /** Methods of a provider after which files may differ. */
    private static final Set<String> CHANGES = Set.of(
            "newByteChannel",
            "newFileChannel",
            "newOutputStream",
            "createDirectory",
            "createSymbolicLink",
            "createLink",
            "delete",
            "deleteIfExists",
            "copy",
            "move");

    /** Called after each change, by the thread that made it. */
    @FunctionalInterface
    public interface Listener {
        void changed() throws IOException;
    }

    private final FileSystem system;
    private final FileSystemProvider provider;

    private WatchedFolder(FileSystem real, Listener listener) {
        provider = extend(FileSystemProvider.class, (_, method, arguments) -> {
            Object result = call(real.provider(), method, arguments);
            if (CHANGES.contains(method.getName())) {
                listener.changed();
            }
            return result;
        });
        system = extend(
                FileSystem.class,
                (_, method, arguments) ->
                        method.getName().equals("provider") ? provider : call(real, method, arguments));
    }

    /** Returns a path whose changes, and those of all files below it, are reported. */
    public static Path of(Path folder, Listener listener) {
        return new WatchedFolder(folder.getFileSystem(), listener).wrap(folder);
    }

    /** Returns an object whose methods are calls of a handler. */
    private static <T> T extend(Class<T> type, InvocationHandler handler) {
        try {
            return new ByteBuddy()
                    .subclass(type)
                    .method(isPublic().and(not(isDeclaredBy(Object.class))))
                    .intercept(InvocationHandlerAdapter.of(handler))
                    .make()
                    .load(WatchedFolder.class.getClassLoader())
                    .getLoaded()
                    .getDeclaredConstructor()
                    .newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Calls a method of a real object with real paths; the paths of its result are watched. */
    private @Nullable Object call(Object real, Method method, Object @Nullable [] arguments) throws Throwable {
        Object[] plain = arguments == null
                ? new Object[0]
                : Arrays.stream(arguments).map(WatchedFolder::unwrap).toArray();
        try {
            return watched(method.invoke(real, plain));
        } catch (InvocationTargetException failed) {
            throw failed.getCause();
        }
    }

    private @Nullable Object watched(@Nullable Object result) {
        return switch (result) {
            case Path path -> wrap(path);
            case Iterator<?> paths -> wrapped(paths);
            case PathMatcher matcher -> (PathMatcher) path -> matcher.matches((Path) unwrap(path));
            case DirectoryStream<?> found ->
                new DirectoryStream<Object>() {
                    @Override
                    public Iterator<Object> iterator() {
                        return wrapped(found.iterator());
                    }

                    @Override
                    public void close() throws IOException {
                        found.close();
                    }
                };
            case null, default -> result;
        };
    }

    private Iterator<Object> wrapped(Iterator<?> paths) {
        List<Object> all = new ArrayList<>();
        paths.forEachRemaining(path -> all.add(wrap((Path) path)));
        return all.iterator();
    }

    /** The path behind a watched one. */
    private interface HasReal {
        Path real();
    }

    private static Object unwrap(Object argument) {
        return argument instanceof HasReal watched ? watched.real() : argument;
    }

    private Path wrap(Path path) {
        Class<?>[] types = {Path.class, HasReal.class};
        return (Path) Proxy.newProxyInstance(
                WatchedFolder.class.getClassLoader(), types, (_, method, arguments) -> switch (method.getName()) {
                    case "real" -> path;
                    case "getFileSystem" -> system;
                    default -> call(path, method, arguments);
                });
    }
}
