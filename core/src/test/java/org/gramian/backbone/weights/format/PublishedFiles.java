package org.gramian.backbone.weights.format;

import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.TextFormat;
import io.jhdf.HdfFile;
import io.jhdf.WritableHdfFile;
import io.jhdf.api.WritableGroup;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.gramian.backbone.weights.format.TorchState.TorchLegacy;
import org.gramian.tensor.DType;
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

    public static Path torchLegacy(Path path, Map<String, StoredTensor> tensors) throws IOException {
        Pickle keys = Pickle.start().op(']', '(');
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        int key = 0;
        for (StoredTensor tensor : tensors.values()) {
            keys.text(String.valueOf(key++));
            data.writeBytes(ByteBuffer.allocate(Long.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(tensor.shape().elements())
                    .array());
            data.writeBytes(tensor.data().toArray(ValueLayout.JAVA_BYTE));
        }
        return legacy(path, stateDictionary(tensors), keys.op('e').end(), data.toByteArray());
    }

    static Path legacy(Path path, byte[] object, byte[] keys, byte[] data) throws IOException {
        try (OutputStream out = Files.newOutputStream(path)) {
            out.write(Pickle.start().raw(TorchLegacy.MAGIC_OPCODES).end());
            out.write(Pickle.start().whole(1001).end());
            out.write(Pickle.start()
                    .op('}', '(')
                    .text("little_endian")
                    .op(0x88)
                    .text("protocol_version")
                    .whole(1001)
                    .op('u')
                    .end());
            out.write(object);
            out.write(keys);
            out.write(data);
        }
        return path;
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

    /** A dataset for each tensor, at the path that its name is; names are given as Keras lays them out. */
    public static Path keras(Path path, Map<String, StoredTensor> tensors) throws IOException {
        try (WritableHdfFile file = HdfFile.write(path)) {
            file.putAttribute("backend", "tensorflow");
            for (Map.Entry<String, StoredTensor> entry : tensors.entrySet()) {
                String[] steps = entry.getKey().split("/", -1);
                WritableGroup group = file;
                for (int i = 0; i < steps.length - 1; i++) {
                    group = group.getChildren().get(steps[i]) instanceof WritableGroup there
                            ? there
                            : group.putGroup(steps[i]);
                }
                group.putDataset(steps[steps.length - 1], nested(entry.getValue(), 0, 0));
            }
        }
        return path;
    }

    private static Object nested(StoredTensor tensor, int dimension, long offset) {
        int rank = tensor.shape().rank();
        int size = Math.toIntExact(tensor.shape().at(dimension));
        if (dimension == rank - 1) {
            float[] row = new float[size];
            for (int i = 0; i < size; i++) {
                row[i] = tensor.data().getAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, offset * size + i);
            }
            return row;
        }
        int[] sizes = new int[rank - dimension];
        for (int i = 0; i < sizes.length; i++) {
            sizes[i] = Math.toIntExact(tensor.shape().at(dimension + i));
        }
        Object array = Array.newInstance(float.class, sizes);
        for (int i = 0; i < size; i++) {
            Array.set(array, i, nested(tensor, dimension + 1, offset * size + i));
        }
        return array;
    }

    /** How a network is written: today's layers or those of before 2015, which also had blobs of four dimensions. */
    public enum CaffeLayers {
        NEW,
        OLD
    }

    public static Path caffe(Path path, Map<String, StoredTensor> tensors, CaffeLayers kind) throws IOException {
        Map<String, List<StoredTensor>> layers = new LinkedHashMap<>();
        tensors.forEach((name, tensor) -> layers.computeIfAbsent(
                        name.substring(0, name.lastIndexOf('.')), _ -> new ArrayList<>())
                .add(tensor));
        Descriptor net = message("NetParameter");
        DynamicMessage.Builder network = DynamicMessage.newBuilder(net).setField(field(net, "name"), "test");
        String list = kind == CaffeLayers.NEW ? "layer" : "layers";
        Descriptor type = message(kind == CaffeLayers.NEW ? "LayerParameter" : "V1LayerParameter");
        network.addRepeatedField(
                field(net, list),
                DynamicMessage.newBuilder(type)
                        .setField(field(type, "name"), "data")
                        .build());
        layers.forEach((name, blobs) -> {
            DynamicMessage.Builder layer = DynamicMessage.newBuilder(type).setField(field(type, "name"), name);
            layer.addRepeatedField(field(type, "bottom"), "below");
            blobs.forEach(blob -> layer.addRepeatedField(field(type, "blobs"), blob(blob, kind)));
            network.addRepeatedField(field(net, list), layer.build());
        });
        Files.write(path, network.build().toByteArray());
        return path;
    }

    private static DynamicMessage blob(StoredTensor tensor, CaffeLayers kind) {
        Descriptor type = message("BlobProto");
        DynamicMessage.Builder blob = DynamicMessage.newBuilder(type);
        long[] sizes = tensor.shape().sizes();
        if (kind == CaffeLayers.NEW) {
            DynamicMessage.Builder shape = DynamicMessage.newBuilder(message("BlobShape"));
            for (long size : sizes) {
                shape.addRepeatedField(field(message("BlobShape"), "dim"), size);
            }
            blob.setField(field(type, "shape"), shape.build());
        } else {
            List<String> names = List.of("num", "channels", "height", "width");
            for (int i = 0; i < 4; i++) {
                int at = i - (4 - sizes.length);
                blob.setField(field(type, names.get(i)), at < 0 ? 1 : Math.toIntExact(sizes[at]));
            }
        }
        boolean doubles = tensor.type() == DType.F64;
        FieldDescriptor data = field(type, doubles ? "double_data" : "data");
        for (long i = 0; i < tensor.shape().elements(); i++) {
            Object value = doubles
                    ? (Object) tensor.data().getAtIndex(ValueLayout.JAVA_DOUBLE_UNALIGNED, i)
                    : (Object) tensor.data().getAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i);
            blob.addRepeatedField(data, value);
        }
        return blob.build();
    }

    private static FieldDescriptor field(Descriptor message, String name) {
        return Objects.requireNonNull(message.findFieldByName(name), name);
    }

    private static Descriptor message(String name) {
        return Objects.requireNonNull(Caffe.FILE.findMessageTypeByName(name), name);
    }

    /** The published definition, read once. */
    private static final class Caffe {
        static final FileDescriptor FILE = definition();

        private static FileDescriptor definition() {
            try (InputStream text = Objects.requireNonNull(
                    PublishedFiles.class.getResourceAsStream("/weights/caffe.textproto"), "caffe.textproto")) {
                FileDescriptorProto.Builder proto = FileDescriptorProto.newBuilder();
                TextFormat.merge(new String(text.readAllBytes(), StandardCharsets.UTF_8), proto);
                return FileDescriptor.buildFrom(proto.build(), new FileDescriptor[0]);
            } catch (IOException | DescriptorValidationException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
