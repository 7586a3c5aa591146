package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.regex.Pattern;
import org.gramian.cli.TypedCommands;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CacheCommandTest {
    @TempDir
    Path folder;

    private void file(String name, int bytes) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.write(file, new byte[bytes]);
    }

    /** Returns what each line prints. */
    private List<String> gramian(String size, String... lines) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(TypedCommands.starting(List.of(lines))).redirectErrorStream(true);
        builder.environment().put("GRAMIAN_CACHE", folder.toString());
        builder.environment().put("GRAMIAN_CACHE_SIZE", size);
        Process process = builder.start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(text).isZero();
        List<String> printed = List.of(text.split(Pattern.quote(TypedCommands.PROMPT), -1));
        assertThat(printed).hasSize(lines.length + 1);
        return printed.subList(1, printed.size());
    }

    @Test
    void listsAndPrunes() throws IOException, InterruptedException {
        file("features/net-a.features", 3000);
        file("features/net-b.features", 4000);
        file("weights/squeezenet.safetensors", 5000);
        file("onnx/net-1234abcd.safetensors", 2000);
        file("libtorch-2.7.1-linux/libtorch.so", 6000);
        file("libtorch.lock", 0);
        List<String> printed = gramian("10kB", "cache", "cache prune", "cache prune --all");
        assertThat(printed.getFirst())
                .containsPattern("features/net-a.features +3\\.0 kB +\\d+ s ago")
                .containsPattern("weights/squeezenet.safetensors +5\\.0 kB")
                .containsPattern("onnx/net-1234abcd.safetensors +2\\.0 kB")
                .containsPattern("libtorch-2.7.1-linux +6\\.0 kB")
                .containsPattern("total +20\\.0 kB")
                .contains("limit 10.0 kB")
                .doesNotContain(".lock");
        assertThat(printed.get(1)).contains("removed 0 bytes", "networks left: 9.0 kB");
        assertThat(printed.get(2))
                .contains("removed 9.0 kB", "networks left: 0 bytes", "libtorch-2.7.1-linux: removed 6.0 kB");
        assertThat(folder.resolve("libtorch-2.7.1-linux")).doesNotExist();
        assertThat(folder.resolve("features/net-a.features")).doesNotExist();
        assertThat(folder.resolve("onnx/net-1234abcd.safetensors")).doesNotExist();
        assertThat(folder.resolve("weights/squeezenet.safetensors")).exists();
    }

    @Test
    void prunesTheLeastRecentlyUsedConvertedNetwork() throws IOException, InterruptedException {
        file("features/net-a.features", 3000);
        file("onnx/old.safetensors", 2000);
        file("onnx/new.safetensors", 2000);
        Files.setLastModifiedTime(folder.resolve("onnx/old.safetensors"), FileTime.fromMillis(0));
        assertThat(gramian("6kB", "cache prune").getFirst()).contains("removed 2.0 kB", "networks left: 5.0 kB");
        assertThat(folder.resolve("onnx/old.safetensors")).doesNotExist();
        assertThat(folder.resolve("onnx/new.safetensors")).exists();
    }
}
