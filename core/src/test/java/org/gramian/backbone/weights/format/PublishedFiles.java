package org.gramian.backbone.weights.format;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.StoredTensor;

/** Writes weight files in the formats that publishers use, for the tests to read back. */
public final class PublishedFiles {
    private PublishedFiles() {}

    public static Path torchZip(Path path, Map<String, StoredTensor> tensors) throws IOException {
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(path))) {
            entry(zip, "archive/data.pkl", stateDictionary(tensors), ZipEntry.STORED);
            int key = 0;
            for (StoredTensor tensor : tensors.values()) {
                byte[] data = tensor.data().toArray(ValueLayout.JAVA_BYTE);
                entry(zip, "archive/data/" + key++, data, key % 2 == 0 ? ZipEntry.STORED : ZipEntry.DEFLATED);
            }
            entry(zip, "archive/version", "3\n".getBytes(StandardCharsets.US_ASCII), ZipEntry.STORED);
        }
        return path;
    }

    static void entry(ZipOutputStream zip, String name, byte[] data, int method) throws IOException {
        ZipEntry entry = new ZipEntry(name);
        entry.setMethod(method);
        CRC32 crc = new CRC32();
        crc.update(data);
        entry.setCrc(crc.getValue());
        entry.setSize(data.length);
        zip.putNextEntry(entry);
        zip.write(data);
        zip.closeEntry();
    }

    static byte[] stateDictionary(Map<String, StoredTensor> tensors) {
        Pickle pickle = Pickle.start().op('}', '(');
        int key = 0;
        for (Map.Entry<String, StoredTensor> entry : tensors.entrySet()) {
            Shape shape = entry.getValue().shape();
            Pickle storage = new Pickle().storage(entry.getValue().type(), String.valueOf(key++), shape.elements());
            pickle.text(entry.getKey()).tensor(storage, 0, shape.sizes(), strides(shape));
        }
        return pickle.op('u').end();
    }

    private static long[] strides(Shape shape) {
        long[] strides = new long[shape.rank()];
        long step = 1;
        for (int i = strides.length - 1; i >= 0; i--) {
            strides[i] = step;
            step *= shape.at(i);
        }
        return strides;
    }
}
