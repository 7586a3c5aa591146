package org.gramian.spark.train;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;

/**
 * Java serialization of objects sent between driver and executors: {@code spark.serializer} may be Kryo, which does not support
 * records.
 */
final class ObjectBytes {
    private ObjectBytes() {}

    static byte[] of(Serializable object) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream stream = new ObjectOutputStream(bytes)) {
            stream.writeObject(object);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // in memory, of serializable types
        }
        return bytes.toByteArray();
    }

    /** Deserializes an object. */
    static <T> T read(byte[] bytes, Class<T> type) {
        try (ObjectInputStream stream = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            return type.cast(stream.readObject());
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        } catch (ClassNotFoundException unknown) {
            throw new IllegalStateException(
                    "expected the same program version on driver and executors, found an unknown type", unknown);
        }
    }
}
