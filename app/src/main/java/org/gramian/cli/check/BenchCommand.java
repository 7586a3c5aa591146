package org.gramian.cli.check;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.gramian.basis.JsonText;
import org.gramian.benchmarks.Bench;
import org.gramian.benchmarks.BenchPlan;
import org.gramian.benchmarks.BenchReport;
import org.gramian.benchmarks.BenchWorkload;
import org.gramian.benchmarks.Precision;
import org.gramian.benchmarks.PythonTorch;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.InputOptions;
import org.gramian.cli.common.TorchOptions;
import org.gramian.tensor.Device;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code gramian bench}: times head and backbone on this machine, also against PyTorch. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        header = "Benchmark head and backbone on this machine, also against PyTorch.",
        description = {
            "Times forward passes and training steps of a head, and of a backbone with its head, on random data; needs no",
            "images and no weights. Each side runs in its own process, alternating, and is timed only if losses and gradients",
            "agree. TFLOP/s count convolutions and matrix products; the peak is that of a large matrix product."
        },
        footer = {
            "",
            "Examples:",
            "  gramian bench --only head --batch 32 --against-python",
            "  gramian bench --device cuda --batch 32,128 --precision tf32,bf16 --against-python python3 --json bench.json",
            "  gramian bench --device cuda --precision bf16 --against-python --sides python-compiled,python-graphs",
            "Exit codes: 0 success; 1 losses or gradients disagree, or an internal error; 2 wrong options."
        })
public final class BenchCommand implements Callable<Integer> {
    @Mixin
    private final Console console = new Console();

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    @Mixin
    private final BenchSizes sizes = new BenchSizes();

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "NAME",
            defaultValue = "head,network",
            description = {
                "head, network (backbone and head) or backbone, each also with the suffix",
                "-forward or -training; definition (RBF kernel in matrix form against the",
                "paper's double loop), images (decoding), prediction (scores from files",
                "against scores from crops in memory; --batch sets the number of images)",
                "(default: ${DEFAULT-VALUE})"
            })
    private List<String> only = new ArrayList<>();

    @Option(
            names = {"--batch", "--batch-size"},
            split = ",",
            paramLabel = "N",
            description = "batch sizes, e.g. 32,128 (default: 32; 8 for a backbone on the CPU)")
    private List<Integer> batches = new ArrayList<>();

    @Option(
            names = "--precision",
            split = ",",
            paramLabel = "WORD",
            description = {
                "f32, tf32 (GPU only) or bf16 (convolutions in bfloat16, head in float32)",
                "(default: all on the GPU, else f32)"
            })
    private List<String> precisions = new ArrayList<>();

    @Option(
            names = "--repeat",
            paramLabel = "N",
            description = "timed rounds per side (default: 15 on the GPU, else 7)")
    private @Nullable Integer repeat;

    @Option(names = "--warmup", paramLabel = "N", description = "warm-up rounds (default: 10 on the GPU, else 2)")
    private @Nullable Integer warmup;

    @Option(
            names = "--trajectory",
            paramLabel = "N",
            defaultValue = "0",
            description = "compare the losses of N steps from the same initialization, e.g. 100")
    private int trajectory;

    @Option(
            names = "--against-python",
            arity = "0..1",
            paramLabel = "PYTHON",
            fallbackValue = "",
            description = {
                "also time PyTorch, in alternation; PYTHON is an interpreter that has torch",
                "(default: GRAMIAN_PYTHON, else python3 or /usr/bin/python3)"
            })
    private @Nullable String python;

    @Option(
            names = "--sides",
            split = ",",
            paramLabel = "NAME",
            defaultValue = "python,python-compiled",
            description = {
                "PyTorch modes: python (eager), python-compiled (torch.compile); on the GPU also",
                "python-graphs and python-max-autotune (torch.compile with CUDA graphs, fused",
                "SGD, Cholesky QR) (default: ${DEFAULT-VALUE})"
            })
    private List<String> sides = new ArrayList<>();

    @Option(names = "--json", paramLabel = "FILE", description = "write machine, versions, settings and all timings")
    private @Nullable Path json;

    @Option(names = "--markdown", paramLabel = "FILE", description = "write the table as Markdown")
    private @Nullable Path markdown;

    @Override
    public Integer call() throws IOException {
        List<BenchWorkload> workloads = BenchWorkload.chosen(only);
        List<Precision> parsed = precisions.stream().map(Precision::parse).toList();
        List<PythonTorch.Mode> modes =
                sides.stream().map(PythonTorch.Mode::parse).toList();
        Device device = torch.prepare();
        int threads = torch.threads() == 0 ? Runtime.getRuntime().availableProcessors() : torch.threads();
        BenchPlan plan = new BenchPlan(
                workloads,
                new BenchPlan.Grid(batches, parsed, device, threads),
                sizes.sizes(console::say),
                runs(device));
        BenchReport report = Bench.run(plan, python(), modes, listener());
        console.out().print(report.columns());
        console.out().flush();
        if (markdown != null) {
            Files.writeString(markdown, report.markdown());
        }
        return report.failed() ? ExitCode.FAILED : ExitCode.DONE;
    }

    private BenchPlan.Runs runs(Device device) {
        boolean cuda = device.kind() == Device.Kind.CUDA;
        return new BenchPlan.Runs(
                warmup != null ? warmup : cuda ? 10 : 2, repeat != null ? repeat : cuda ? 15 : 7, trajectory);
    }

    private @Nullable PythonTorch python() {
        if (python == null) {
            return null;
        }
        return PythonTorch.find(python.isEmpty() ? System.getenv("GRAMIAN_PYTHON") : python);
    }

    /** Writes the JSON file after each measurement, so that an interrupted run keeps the finished ones. */
    private Bench.Listener listener() {
        return new Bench.Listener() {
            @Override
            public void say(String sentence) {
                console.say(sentence);
            }

            @Override
            public void measured(BenchReport soFar) {
                if (json != null) {
                    write(json, JsonText.indented(soFar.tree()) + "\n");
                }
            }
        };
    }

    private static void write(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Sizes of the benchmark; the defaults are those of the paper. */
    private static final class BenchSizes {
        @Option(
                names = "--pooling",
                paramLabel = "SPEC",
                defaultValue = "conv:512/rbf/spd:512/relu/triu/root/l2",
                description = {
                    "pooling of the head; for PyTorch only average, or conv, rbf, spd, relu, triu, root,",
                    "l2 (default: ${DEFAULT-VALUE})"
                })
        @SuppressWarnings("NullAway.Init") // set by picocli
        private String pooling;

        @Option(
                names = "--backbone",
                paramLabel = "NAME",
                defaultValue = "vgg16",
                description = {
                    "backbone, or FILE.onnx; for PyTorch only vgg16, vgg19, resnet50,",
                    "efficientnet-lite4, vit-s16, vit-b16 and squeezenet (default: ${DEFAULT-VALUE})"
                })
        @SuppressWarnings("NullAway.Init") // set by picocli
        private String backbone;

        @Option(
                names = "--channels",
                paramLabel = "N",
                defaultValue = "512",
                description = "channels of the head's input (default: ${DEFAULT-VALUE})")
        private int channels;

        @Option(
                names = "--side",
                paramLabel = "N",
                defaultValue = "14",
                description = "height and width of these feature maps (default: ${DEFAULT-VALUE})")
        private int side;

        @Option(
                names = "--pixels",
                paramLabel = "N",
                defaultValue = "224",
                description = "image size (default: ${DEFAULT-VALUE})")
        private int pixels;

        @Option(
                names = "--classes",
                paramLabel = "N",
                defaultValue = "47",
                description = "classes (default: ${DEFAULT-VALUE})")
        private int classes;

        @Mixin
        private final InputOptions input = new InputOptions();

        /** Returns the sizes; an ONNX file given as backbone is imported first. */
        BenchPlan.Sizes sizes(Consumer<String> remarks) throws IOException {
            String resolved = input.resolve(backbone, remarks);
            return new BenchPlan.Sizes(pooling, resolved, channels, side, pixels, classes);
        }
    }
}
