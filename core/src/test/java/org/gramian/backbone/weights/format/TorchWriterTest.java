package org.gramian.backbone.weights.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.gramian.tensor.file.Npy;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that PyTorch writes while the test runs; skipped where it is not installed. */
final class TorchWriterTest {
    private static final String PROGRAM = """
        import collections, sys, numpy, torch
        from torch import nn
        folder = sys.argv[1]
        torch.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Linear(5, 6, bias=False))
        state = net.state_dict()
        state["2.weight"] = state["2.weight"].t()
        for name, tensor in state.items():
            numpy.save(folder + "/" + name + ".npy", tensor.detach().numpy().copy(order="C"))
        parallel = collections.OrderedDict(("module." + k, v) for k, v in state.items())
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9).state_dict()
        checkpoint = {"epoch": 3, "loss": 0.5, "state_dict": parallel, "optimizer": optimizer, "best": None}
        torch.save(state, folder + "/state")
        torch.save(checkpoint, folder + "/checkpoint")
        torch.save(net, folder + "/module")
        torch.save(state, folder + "/legacy", _use_new_zipfile_serialization=False)
        """;

    @TempDir
    Path folder;

    @Test
    void whatPyTorchWritesIsReadAsItWas() throws IOException, InterruptedException {
        Assumptions.assumeTrue(written(), "skipped: there is no python3 with torch on this machine");
        assertRead("state", List.of());
        assertRead("checkpoint", List.of("'state_dict'", "'module.'"));
        try (Arena arena = Arena.ofConfined()) {
            assertThat(catchMessage(folder.resolve("module"), arena)).contains("refused");
            assertThat(catchMessage(folder.resolve("legacy"), arena)).contains("re-save");
        }
    }

    private static String catchMessage(Path path, Arena arena) {
        try {
            return "read " + WeightFile.read(path, arena, _ -> {}).tensors().keySet();
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private void assertRead(String name, List<String> remarks) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            List<String> found = new ArrayList<>();
            TensorFile file = WeightFile.read(folder.resolve(name), arena, found::add);
            assertThat(found)
                    .as(name)
                    .zipSatisfy(remarks, (remark, named) -> assertThat(remark).contains(named));
            assertThat(file.tensors().keySet())
                    .as(name)
                    .containsExactly(
                            "0.weight",
                            "0.bias",
                            "1.weight",
                            "1.bias",
                            "1.running_mean",
                            "1.running_var",
                            "1.num_batches_tracked",
                            "2.weight");
            for (String tensor : file.tensors().keySet()) {
                StoredTensor expected = Npy.read(folder.resolve(tensor + ".npy"), arena);
                Tensors32.assertSame(file.get(tensor), expected, name + " " + tensor);
            }
        }
    }

    /** Whether some Python here has PyTorch, and wrote the files. */
    private boolean written() throws IOException, InterruptedException {
        for (String python : List.of("python3", "/usr/bin/python3")) {
            if (runs(python, "-c", "import torch, numpy")) {
                Path program = folder.resolve("write.py");
                Files.writeString(program, PROGRAM, StandardCharsets.UTF_8);
                assertThat(runs(python, program.toString(), folder.toString())).isTrue();
                return true;
            }
        }
        return false;
    }

    private static boolean runs(String... command) throws IOException, InterruptedException {
        Process process;
        try {
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            return false; // no such program
        }
        if (!process.waitFor(120, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            return false;
        }
        return process.exitValue() == 0;
    }
}
