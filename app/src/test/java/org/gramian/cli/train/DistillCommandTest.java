package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.gramian.cli.ImageFolder;
import org.gramian.cli.Run;
import org.gramian.cli.TinyTraining;
import org.gramian.cli.common.ExitCode;
import org.gramian.tensor.Scope;
import org.gramian.tensor.file.Safetensors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DistillCommandTest {
    @TempDir
    private Path root = Path.of("");

    private Path images = Path.of("");
    private Path network = Path.of("");

    @BeforeEach
    void prepare() throws IOException {
        images = ImageFolder.tiny(root.resolve("images")).root();
        network = Files.copy(TinyTraining.NETWORK, root.resolve("network.onnx"));
    }

    private Run distill(Object... more) {
        return distillTo(root.resolve("out"), more);
    }

    private Run distillTo(Path out, Object... more) {
        List<Object> arguments = new ArrayList<>(List.of(
                "distill",
                images,
                "--student",
                "mobilenet_v3_large:features.3",
                "--teacher",
                network,
                "--out",
                out,
                "--weights-dir",
                root.resolve("weights"),
                "--image-size",
                "32",
                "--teacher-size",
                "48",
                "--batch",
                "4",
                "--epochs",
                "2",
                "--logit-weight",
                "0",
                "--device",
                "cpu"));
        arguments.addAll(List.of(more));
        return Run.of(arguments.toArray());
    }

    @Test
    void weightsOfTheStudentCanBeInstalledAndUsed() throws IOException {
        Run run = distill("--probe", images);
        assertThat(run.code()).as(run.err()).isZero();
        Path file = root.resolve("out").resolve("mobilenet_v3_large.safetensors");
        assertThat(run.out()).contains(file.toString());
        assertThat(run.err())
                .has(facts("epoch 2/2", "feature", "gram", "probe_acc", "weights import mobilenet_v3_large"));
        assertThat(root.resolve("out").resolve("report.html")).content().contains("Gram loss", "probe accuracy");
        assertThat(Files.readAllLines(root.resolve("out").resolve("history.csv")))
                .hasSize(3);
        Run installed =
                Run.of("weights", "import", "mobilenet_v3_large", file, "--weights-dir", root.resolve("weights"));
        assertThat(installed.code()).as(installed.err()).isZero();
        Run again = distill();
        assertThat(again.code()).isEqualTo(ExitCode.USAGE);
        assertThat(again.err()).has(facts("--out", "new folder"));
    }

    @Test
    void aStudentStartsFromItsInstalledWeightsOrFromAFile() throws IOException {
        Run random = distill();
        assertThat(random.err()).contains("random weights");
        Path file = root.resolve("out").resolve("mobilenet_v3_large.safetensors");
        Run.of("weights", "import", "mobilenet_v3_large", file, "--weights-dir", root.resolve("weights"));
        Path second = root.resolve("second");
        Run installed = distillTo(second, "--lr", "1e-9");
        assertThat(installed.err()).contains("weights mobilenet_v3_large");
        assertThat(filters(second)).containsExactly(filters(root.resolve("out")), within(1e-6));
        Path third = root.resolve("third");
        Run again = distillTo(third, "--lr", "1e-9", "--init", "random");
        assertThat(again.err()).contains("random weights");
        assertThat(filters(third)[0]).isNotEqualTo(filters(second)[0]);
        Run fromFile = distillTo(root.resolve("fourth"), "--lr", "1e-9", "--init", file);
        assertThat(filters(root.resolve("fourth"))).as(fromFile.err()).containsExactly(filters(second), within(1e-6));
        assertThat(distillTo(root.resolve("fifth"), "--init", "none.pth").err()).contains("none.pth");
    }

    private static double[] filters(Path out) throws IOException {
        try (Arena arena = Arena.ofConfined();
                Scope _ = Scope.open()) {
            return Safetensors.read(out.resolve("mobilenet_v3_large.safetensors"), arena)
                    .tensors()
                    .get("features.3.block.0.0.weight")
                    .toTensor()
                    .toDoubles();
        }
    }

    @Test
    void wrongUsageIsExplainedInOneLine() throws IOException {
        assertRefused(distill("--gram-weight", "0", "--feature-weight", "0"), "--feature-weight");
        assertRefused(distill("--augment", "wild"), "wild");
        assertRefused(distill("--lr", "0"), "learning rate", "above 0");
        assertRefused(distill("--time-budget", "0s"), "--time-budget");
        assertRefused(distill("--teacher", "filters"), "filters", "trained weights");
        assertRefused(
                Run.of("distill", images, "--student", "filters", "--teacher", network, "--out", root.resolve("out")),
                "--student",
                "filters");
        assertRefused(
                Run.of("distill", images, "--student", "mobilnet", "--teacher", network, "--out", root.resolve("out")),
                "mobilnet");
    }

    private static void assertRefused(Run run, Object... facts) {
        assertThat(run.code()).as(run.err()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).has(facts(facts)).doesNotContain("Exception");
    }
}
