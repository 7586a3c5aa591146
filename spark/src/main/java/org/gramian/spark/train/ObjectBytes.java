package org.gramian.spark.train;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;

/**
 * Objects as bytes, by Java's own serialization: what goes between driver and executors is always bytes, for {@code
 * spark.serializer} may be Kryo, which can neither write nor make a record.
 */
final class ObjectBytes {
    private ObjectBytes() {}

    static byte[] of(Serializable object) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream stream = new ObjectOutputStream(bytes)) {
            stream.writeObject(object);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // into memory, and of types of ours
        }
        return bytes.toByteArray();
    }

    /** The object that these are the bytes of. */
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
