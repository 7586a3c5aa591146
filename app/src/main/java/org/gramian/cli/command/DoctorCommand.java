package org.gramian.cli.command;

import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.check.PoolingCheck;
import org.gramian.check.doctor.CheckResult;
import org.gramian.check.doctor.LayerCheck;
import org.gramian.check.doctor.RuleCheck;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.TorchOptions;
import org.gramian.cli.common.Version;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.library.Libtorch;
import org.gramian.tensor.library.LibtorchFolder;
import org.gramian.train.Optimizer;
import org.gramian.train.Sgd;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code gramian doctor}: what is installed, whether it computes right, and how fast. */
@Command(
        name = "doctor",
        header = "Check the installation: libtorch, GPU, numerical accuracy, speed.",
        description = """
                Shows versions, device, libtorch and threads, checks the gradients of poolings against central
                differences, and times a training step of a pooling. Exit code 1 if a check fails.

                With --pooling, compares the gradients of one pooling with central differences in double precision instead, on
                small random features, for 8 to 100 elements of the features and of every parameter. Formulas of the paper or
                its authors that are not the derivative must deviate by exactly the documented amount.""")
public final class DoctorCommand extends ConsoleCommand {
    private static final Pooling POOLING = Pooling.parse("conv:256/rbf/spd:128/relu/triu/root/l2");
    private static final Shape FEATURES = Shape.of(8, 256, 14, 14);
    private static final int TIMED_STEPS = 5;

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    @Option(names = "--pooling", paramLabel = "SPEC", description = "check one pooling only, see below")
    private @Nullable String pooling;

    private final List<String> problems = new ArrayList<>();

    @Override
    public Integer call() {
        if (pooling != null) {
            return check(pooling);
        }
        Device device = torch.prepare();
        describeMachine();
        describeLibtorch(device);
        console.say("checking the gradients of poolings ...");
        report("gradients", "inputs of poolings against central differences", LayerCheck.run(device, 10));
        report("rules", "tensors of fused layers against plain ones", RuleCheck.run(device));
        console.say("timing ...");
        double seconds = stepSeconds(device);
        say(
                "timing",
                String.format(
                        Locale.ROOT, "training step of %s on features %s: %.1f ms", POOLING, FEATURES, seconds * 1e3));
        console.out()
                .println(problems.isEmpty() ? "all checks passed" : "CHECKS FAILED: " + String.join("; ", problems));
        return problems.isEmpty() ? ExitCode.DONE : ExitCode.FAILED;
    }

    /** Compares the gradients of a pooling with central differences. */
    private int check(String spec) {
        Pooling parsed = Pooling.parse(spec);
        PoolingCheck check = PoolingCheck.of(parsed, torch.prepare());
        PrintWriter out = console.out();
        if (!check.formulas().isEmpty()) {
            out.println(parsed);
            out.println("Formulas that are not the derivative:");
            check.formulas().forEach(formula -> out.println("  " + formula));
            out.println("Gradients of the pooling:");
        }
        check.inputs().forEach(input -> out.println(measured(input)));
        return check.passed() ? ExitCode.DONE : ExitCode.FAILED;
    }

    /** One line: ok is the derivative, expected what the formulas state instead. */
    private static String measured(PoolingCheck.GradientComparison comparison) {
        String verdict = !comparison.passed() ? "FAILED  " : comparison.deviates() ? "expected" : "ok      ";
        String stated = !comparison.deviates() && comparison.passed()
                ? ""
                : "; of the stated formula %.1e".formatted(comparison.fromStated());
        return String.format(
                Locale.ROOT,
                "%s  %-24s relative error %.1e%s (tolerance %.0e)",
                verdict,
                comparison.subject(),
                comparison.error(),
                stated,
                comparison.tolerance());
    }

    private void describeMachine() {
        Runtime.Version java = Runtime.version();
        String system = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        int cores = Runtime.getRuntime().availableProcessors();
        long memory =
                ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean machine
                        ? machine.getTotalMemorySize()
                        : 0;
        say("gramian", Version.number());
        say("java", java + " (" + System.getProperty("java.vendor") + ")");
        say("system", String.format(Locale.ROOT, "%s, %d cores, %.1f GiB of memory", system, cores, memory / 0x1p30));
    }

    private void describeLibtorch(Device device) {
        Libtorch libtorch = Libtorch.load();
        LibtorchFolder folder = libtorch.folder();
        List<String> damages = folder.verifyChecksums();
        damages.forEach(damage -> problems.add(damage + " (delete " + folder.folder() + " to unpack it again)"));
        String checksums = !folder.hasChecksums() ? "unknown" : damages.isEmpty() ? "intact" : "DAMAGED";
        String version = folder.version() == null ? libtorch.version() : folder.version();
        say("libtorch", version + ", " + folder.origin());
        say("", "in " + folder.folder() + ", checksums " + checksums);
        say("device", device + "; CUDA devices: " + libtorch.cudaDevices());
        say("threads", Integer.toString(libtorch.threads()));
    }

    private void report(String topic, String what, List<CheckResult> outcomes) {
        if (outcomes.isEmpty()) {
            problems.add(topic + ": nothing to compare");
            return;
        }
        CheckResult worst = outcomes.stream()
                .max(Comparator.comparingDouble(outcome -> outcome.error() / outcome.tolerance()))
                .orElseThrow();
        List<CheckResult> failed =
                outcomes.stream().filter(outcome -> !outcome.passed()).toList();
        say(
                topic,
                String.format(
                        Locale.ROOT,
                        "%d of %d %s within %.0e; worst %.1e (%s)",
                        outcomes.size() - failed.size(),
                        outcomes.size(),
                        what,
                        worst.tolerance(),
                        worst.error(),
                        worst.subject()));
        failed.forEach(outcome -> problems.add(
                String.format(Locale.ROOT, "%s: %s is off by %.1e", topic, outcome.subject(), outcome.error())));
    }

    private void say(String topic, String sentence) {
        console.out().println("%-10s %s".formatted(topic, sentence));
    }

    /** Returns the median time of a training step of a pooling. */
    private static double stepSeconds(Device device) {
        SplittableRandom random = new SplittableRandom(2);
        double[] seconds = new double[TIMED_STEPS];
        try (Scope _ = Scope.open();
                ParameterSet parameters = POOLING.initialize(FEATURES.at(1), random, DType.F32, device);
                Optimizer sgd = new Optimizer(Sgd.defaults(0.1))) {
            Tensor x = Tensors.gaussian(random, FEATURES, DType.F32).to(device);
            Shape descriptorShape = Shape.of(FEATURES.at(0), POOLING.descriptorSize(FEATURES.at(1)));
            Tensor upstream =
                    Tensors.gaussian(random, descriptorShape, DType.F32).to(device);
            for (int i = -2; i < TIMED_STEPS; i++) {
                long start = System.nanoTime();
                try (Tape tape = Tape.recording()) {
                    Map<String, Var> variables = parameters.variables(tape);
                    Var descriptors = POOLING.apply(tape.constant(x), Bindings.of(variables));
                    try (Gradients gradients = tape.backward(descriptors, upstream)) {
                        sgd.step(parameters, variables, gradients);
                    }
                }
                device.synchronize();
                if (i >= 0) {
                    seconds[i] = (System.nanoTime() - start) * 1e-9;
                }
            }
        }
        Arrays.sort(seconds);
        return seconds[TIMED_STEPS / 2];
    }
}
