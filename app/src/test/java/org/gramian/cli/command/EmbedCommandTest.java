package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.cli.ImageFolder;
import org.gramian.cli.Run;
import org.gramian.cli.TinyModel;
import org.gramian.cli.common.ExitCode;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbedCommandTest {
    private static final int LENGTH = 6;

    @TempDir
    private Path folder = Path.of("");

    private Path model = Path.of("");
    private Path photos = Path.of("");
    private Path out = Path.of("");

    @BeforeEach
    void paint() throws IOException {
        model = TinyModel.write(folder.resolve("model.safetensors"), "paper:32");
        photos = folder.resolve("photos");
        out = folder.resolve("out.safetensors");
        new ImageFolder(photos).add("paper/a.bmp", 1).add("stone/b.bmp", 2).add("stone/c.bmp", 3);
    }

    private static Run embed(Object... arguments) {
        return Run.of(Stream.concat(Stream.of("embed", "--device=cpu"), Stream.of(arguments))
                        .toArray())
                .done();
    }

    private static float[] floats(StoredTensor tensor) {
        return tensor.data().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
    }

    @Test
    void rowIsTheMeanOfTheCrops() throws IOException {
        Path each = folder.resolve("each.safetensors");
        assertThat(embed(model, photos, out).out()).has(facts("3", "6"));
        embed("--crops=each", model, photos, each);
        try (Arena arena = Arena.ofConfined()) {
            TensorFile means = Safetensors.read(out, arena);
            TensorFile crops = Safetensors.read(each, arena);
            StoredTensor found = means.get("descriptors");
            assertThat(found.type()).isEqualTo(DType.F32);
            assertThat(found.shape()).isEqualTo(Shape.of(3, LENGTH));
            assertThat(crops.get("descriptors").shape()).isEqualTo(Shape.of(15, LENGTH));
            assertThat(means.get("labels").data().toArray(ValueLayout.JAVA_LONG_UNALIGNED))
                    .containsExactly(0, 1, 1);
            assertThat(means.metadata())
                    .containsEntry("classes", "[\"paper\",\"stone\"]")
                    .containsEntry("names", "[\"paper/a.bmp\",\"stone/b.bmp\",\"stone/c.bmp\"]")
                    .containsEntry("unreadable", "{}")
                    .containsKeys("backbone", "layer", "pooling", "preprocessing", "crops", "gramian");
            float[] one = floats(found);
            float[] many = floats(crops.get("descriptors"));
            for (int i = 0; i < one.length; i++) {
                double sum = 0;
                for (int crop = 0; crop < 5; crop++) {
                    sum += many[(i / LENGTH * 5 + crop) * LENGTH + i % LENGTH];
                }
                assertThat((double) one[i]).isCloseTo(sum / 5, within(1e-6));
            }
        }
    }

    @Test
    void acceptsImagesWithoutClasses() throws IOException {
        for (Path images : List.of(photos.resolve("stone"), photos.resolve("stone/c.bmp"))) {
            embed(model, images, out);
            assertThat(Files.readString(out, StandardCharsets.ISO_8859_1)).contains("c.bmp", "unlabelled");
        }
        Run other = Run.of("embed", "--device=cpu", model, folder.resolve("none"), out);
        assertThat(other.code()).isEqualTo(ExitCode.DATA);
        assertThat(other.err()).contains(folder.resolve("none").toString());
    }

    @Test
    void unreadableImagesAreListedAndSkipped() throws IOException {
        Files.writeString(photos.resolve("stone/b.bmp"), "no image");
        Run.of("embed", "--device=cpu", model, photos, out).failed(ExitCode.DATA, "stone/b.bmp");
        try (Arena arena = Arena.ofConfined()) {
            TensorFile file = Safetensors.read(out, arena);
            assertThat(file.get("descriptors").shape()).isEqualTo(Shape.of(2, LENGTH));
            assertThat(file.get("image").data().toArray(ValueLayout.JAVA_LONG_UNALIGNED))
                    .containsExactly(0, 1);
            assertThat(file.metadata()).containsEntry("names", "[\"paper/a.bmp\",\"stone/c.bmp\"]");
            assertThat(file.metadata().get("unreadable")).startsWith("{\"stone/b.bmp\":\"");
        }
    }

    @Test
    void fileLargerThanTheDiskIsRefused() {
        DescriptorFile.requireSpace(out, DescriptorFile.Format.CSV, 10, LENGTH);
        assertThatThrownBy(() -> DescriptorFile.requireSpace(out, DescriptorFile.Format.SAFETENSORS, 1L << 56, 4))
                .isInstanceOf(IllegalArgumentException.class)
                .has(facts("OUT", "1152921.5 TB", folder));
    }

    @Test
    void csvHasTheSameValues() throws IOException {
        Path csv = folder.resolve("out.csv");
        embed(model, photos, out);
        embed(model, photos, csv);
        List<String> lines = Files.readAllLines(csv);
        assertThat(lines.getFirst()).isEqualTo("name,class,d0,d1,d2,d3,d4,d5");
        try (Arena arena = Arena.ofConfined()) {
            float[] values = floats(Safetensors.read(out, arena).get("descriptors"));
            for (int row = 0; row < 3; row++) {
                String[] cells = lines.get(row + 1).split(",", -1);
                assertThat(cells[0])
                        .isEqualTo(List.of("paper/a.bmp", "stone/b.bmp", "stone/c.bmp")
                                .get(row));
                assertThat(cells[1]).isEqualTo(row == 0 ? "paper" : "stone");
                for (int i = 0; i < LENGTH; i++) {
                    assertThat(Float.parseFloat(cells[2 + i])).isEqualTo(values[row * LENGTH + i]);
                }
            }
        }
        Path each = folder.resolve("each.csv");
        embed("--crops=each", model, photos, each);
        assertThat(Files.readAllLines(each)).hasSize(16).element(5).asString().startsWith("paper/a.bmp,paper,4,");
    }

    /** Read back by hand: parquet-hadoop 1.17 reads these files, but is no dependency. */
    @Test
    void parquetHasTheSameValues() throws IOException {
        Path parquet = folder.resolve("out.parquet");
        embed(model, photos, out);
        embed(model, photos, parquet);
        byte[] bytes = Files.readAllBytes(parquet);
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        assertThat(text).startsWith("PAR1").endsWith("PAR1");
        assertThat(text).contains("name", "class", "descriptor", "element", "stone/c.bmp", "pooling");
        int footer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(bytes.length - 8);
        assertThat(footer).isBetween(1, bytes.length - 12);
        try (Arena arena = Arena.ofConfined()) {
            byte[] values =
                    Safetensors.read(out, arena).get("descriptors").data().toArray(ValueLayout.JAVA_BYTE);
            String levels = "\u0002\u0000\n\u0001".repeat(3); // a list of 6 values: one 0, five times 1
            assertThat(text.substring(0, bytes.length - 8 - footer))
                    .endsWith("\f\u0000\u0000\u0000" + levels + "\u0002\u0000\u0000\u0000$\u0001"
                            + new String(values, StandardCharsets.ISO_8859_1));
        }
    }

    @Test
    void rejectsInvalidArguments() throws IOException {
        Run.of("embed", model, photos, folder.resolve("out.txt"))
                .refused(ExitCode.USAGE, ".safetensors", ".csv", ".parquet");
        Run.of("embed", model, photos, model).refused(ExitCode.USAGE, model);
        Path list = Files.writeString(folder.resolve("images.csv"), "path,class\nphotos/paper/a.bmp,paper\n");
        Run.of("embed", model, list, list).refused(ExitCode.USAGE, "images.csv");
        assertThat(list).content().startsWith("path,class");
        Run.of("embed", model, folder.resolve("absent"), out).refused(ExitCode.DATA, "absent");
        Files.writeString(model, "no model");
        Run.of("embed", model, photos, out).refused(ExitCode.MODEL, model);
        assertThat(out).doesNotExist();
    }
}
