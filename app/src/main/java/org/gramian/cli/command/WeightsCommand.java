package org.gramian.cli.command;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.LongConsumer;
import org.gramian.backbone.BackboneInfo;
import org.gramian.backbone.PublicFile;
import org.gramian.backbone.weights.BundledWeights;
import org.gramian.backbone.weights.Download;
import org.gramian.backbone.weights.UnusableWeightsException;
import org.gramian.backbone.weights.WeightInstaller;
import org.gramian.backbone.weights.WeightName;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.backbone.weights.Weights.Provenance;
import org.gramian.basis.QuotedText;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.InputOptions;
import org.gramian.cli.common.OnnxImport;
import org.gramian.cli.common.Progress;
import org.gramian.tensor.file.TensorFileException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code gramian weights}: groups the commands for pretrained weights. */
@Command(
        name = "weights",
        mixinStandardHelpOptions = true,
        header = "List, download, import and verify pretrained weights.",
        description = """
            Weights are stored in one folder, as NAME.safetensors: GRAMIAN_WEIGHTS, or --weights-dir, or 'weights' in the
            cache folder. NAME is a backbone, e.g. vgg16, or a variant, e.g. resnet50-v2.\
            """,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            WeightsCommand.Listing.class,
            WeightsCommand.Get.class,
            WeightsCommand.Import.class,
            WeightsCommand.Verify.class
        })
public final class WeightsCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }

    /** {@code gramian weights get}: downloads public weights, verifies and installs them. */
    @Command(
            name = "get",
            header = "Download pretrained weights and verify them.",
            description = {
                "Offline, put the file that 'weights list' names into the folder of weights and run this again."
            })
    static final class Get extends ConsoleCommand {
        private static final Duration READ_TIMEOUT = Duration.ofMinutes(1);

        @Mixin
        private final InputOptions weights = new InputOptions();

        @Option(names = "--from", paramLabel = "URL", description = "base URL of a mirror (default: the publisher's)")
        private @Nullable URI base;

        @Parameters(
                index = "0",
                arity = "0..1",
                paramLabel = "NAME",
                description = "a name of 'gramian weights list', e.g. efficientnet-lite4")
        private @Nullable String name;

        private Progress shown = new Progress.None();

        @Override
        public Integer call() throws IOException {
            if (name == null) {
                throw new IllegalArgumentException(
                        "expected the NAME of a backbone; efficientnet-lite4 (25 MB) is the most"
                                + " accurate for most images, 'gramian weights list' shows all");
            }
            WeightName wanted = WeightName.parse(name);
            if (base != null
                    && (base.getScheme() == null || !base.getScheme().matches("https?") || base.getHost() == null)) {
                throw new IllegalArgumentException(
                        "--from: expected a URL such as https://mirror.example/models/, found '" + base + "'");
            }
            try {
                Download download = new Download(Optional.ofNullable(base), READ_TIMEOUT, this::progress);
                Path installed = new WeightInstaller(
                                weights.store(), download, weights.onnx(console::say)::installNative, console::say)
                        .get(wanted);
                console.out().println(installed);
                return ExitCode.DONE;
            } finally {
                shown.close();
            }
        }

        private LongConsumer progress(long total) {
            shown.close();
            shown = console.progress("downloading " + name, Math.max(total, 0));
            return shown;
        }
    }

    /** {@code gramian weights import}: installs weights from a file. */
    @Command(name = "import", header = "Install weights from a local file.", description = """
        FILE is a safetensors file or a PyTorch state dictionary (.pth), detected by content, or a network in ONNX
        (.onnx). No code in it is executed. The file itself is not changed.
        A network in ONNX becomes the backbone NAME: its results are compared with ONNX Runtime first.\
        """)
    static final class Import extends ConsoleCommand {
        @Mixin
        private final InputOptions weights = new InputOptions();

        @Parameters(
                index = "0",
                paramLabel = "NAME",
                description = "name of a backbone or variant, e.g. vgg16 or resnet50-v2; or a new name for FILE.onnx")
        private String name;

        @Parameters(index = "1", paramLabel = "FILE", description = "the weights file, or a network in ONNX")
        private Path file;

        @Override
        public Integer call() throws IOException {
            weights.requireInputFor(file.toString());
            try {
                Path installed = WeightStore.isOnnx(file.toString())
                        ? network()
                        : weights.store().importFile(WeightName.parse(name), file, console::say);
                console.out().println(installed);
                return ExitCode.DONE;
            } catch (TensorFileException damaged) {
                throw new UnusableWeightsException(damaged);
            }
        }

        private Path network() throws IOException {
            OnnxImport onnx = weights.onnx(console::say);
            return WeightName.architectures().contains(name)
                    ? onnx.installNative(WeightName.parse(name), file, String.valueOf(file.getFileName()))
                    : onnx.install(name, file);
        }
    }

    /** {@code gramian weights list}: lists installed and downloadable weights. */
    @Command(name = "list", header = "List installed and downloadable weights.")
    static final class Listing extends ConsoleCommand {
        private static final double MEBIBYTE = 1 << 20;

        @Mixin
        private final InputOptions.WeightsFolder weights = new InputOptions.WeightsFolder();

        @Override
        public Integer call() throws IOException {
            WeightStore store = weights.store();
            console.out().println("folder: " + store.folder());
            console.out().printf("%-22s %-12s %9s  %s%n", "name", "state", "MiB", "source; licence");
            for (WeightName name : names(store)) {
                print(store, name);
            }
            return ExitCode.DONE;
        }

        private void print(WeightName name, String state, double mebibytes, String source, String licence) {
            String size = mebibytes == 0 ? "" : String.format(Locale.ROOT, "%.1f", mebibytes); // 0: unknown
            console.out()
                    .printf("%-22s %-12s %9s  %s%n", name, state, size, QuotedText.visible(source + "; " + licence));
        }

        /** Returns each architecture with its variants, and installed networks at the end. */
        private static Set<WeightName> names(WeightStore store) throws IOException {
            List<WeightName> installed = store.names();
            SortedSet<WeightName> variants = new TreeSet<>(Comparator.comparing(WeightName::text));
            PublicFile.all().forEach(file -> variants.add(WeightName.parse(file.name())));
            variants.addAll(installed);
            Set<WeightName> names = new LinkedHashSet<>();
            for (String architecture : WeightName.architectures()) {
                names.add(store.name(architecture));
                variants.stream()
                        .filter(name -> name.architecture().equals(architecture))
                        .forEach(names::add);
            }
            names.addAll(installed);
            return names;
        }

        private void print(WeightStore store, WeightName name) throws IOException {
            if (store.isBundled(name)) {
                BackboneInfo.Weights about = store.backbone(name).about().weights();
                double size = BundledWeights.size(name.text()) / MEBIBYTE;
                String state = name.text().equals(BundledWeights.NAME) ? "built in" : "class path";
                print(name, state, size, about.source(), about.licence());
            } else if (store.holds(name)) {
                double size = Files.size(store.file(name)) / MEBIBYTE;
                try {
                    Provenance noted = store.provenance(name);
                    print(name, "installed", size, noted.source(), noted.licence());
                } catch (IOException e) {
                    print(name, "damaged", size, String.valueOf(e.getMessage()), "unknown");
                }
            } else {
                String licence = store.backbone(name).about().weights().licence();
                PublicFile.of(name.text())
                        .ifPresentOrElse(
                                file -> print(
                                        name,
                                        "get",
                                        file.mebibytes(),
                                        file.about() + ", " + file.file(),
                                        file.licence()),
                                () -> print(name, "import", 0, WeightStore.importable(name.architecture()), licence));
            }
        }
    }

    /** {@code gramian weights verify}: compares installed weights with their checksum. */
    @Command(
            name = "verify",
            header = "Check installed weights against their checksum.",
            description = "Reads the whole file. Exit code 4 if it is damaged or was changed.")
    static final class Verify extends ConsoleCommand {
        @Mixin
        private final InputOptions.WeightsFolder weights = new InputOptions.WeightsFolder();

        @Parameters(index = "0", paramLabel = "NAME", description = "a name of 'gramian weights list'")
        private String name;

        @Override
        public Integer call() throws IOException {
            WeightStore store = weights.store();
            WeightName wanted = store.name(name);
            List<String> problems = store.verify(wanted);
            problems.forEach(console::warn);
            String file = store.isBundled(wanted)
                    ? wanted + ", on the class path"
                    : store.file(wanted).toString();
            console.out().println(file + (problems.isEmpty() ? ": checksum ok" : ": NOT VERIFIED"));
            return problems.isEmpty() ? ExitCode.DONE : ExitCode.MODEL;
        }
    }
}
