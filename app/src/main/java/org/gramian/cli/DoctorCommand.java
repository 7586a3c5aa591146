package org.gramian.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.gramian.basis.JsonText;
import org.gramian.check.GoldenCheck;
import org.gramian.tensor.Device;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code gramian doctor}: what is installed, whether it computes right, and how fast. */
@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        header = "Check the installation: libtorch, GPU, numerical accuracy, speed.",
        description = {
            "Shows versions, device, libtorch and threads, checks the gradient of every layer against central",
            "differences, and times a matrix product and a training step. Exit code 1 if a check fails."
        })
final class DoctorCommand implements Callable<Integer> {
    @Mixin
    private final Console console = new Console();

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    @Option(names = "--json", description = "print JSON with the result of every check")
    private boolean json;

    @Option(
            names = "--golden",
            paramLabel = "DIR",
            description = "also compare every layer with the reference files (*.safetensors) of a folder")
    private @Nullable Path golden;

    @Override
    public Integer call() throws IOException {
        if (golden != null) {
            GoldenCheck.require(golden);
        }
        Device device = torch.prepare();
        DoctorReport examination = new DoctorReport(device);
        examination.machine();
        examination.libtorch();
        console.say("checking the gradient of every layer ...");
        examination.gradients();
        if (golden != null) {
            console.say("comparing with " + golden + " ...");
            examination.golden(golden);
        }
        console.say("timing ...");
        examination.timing();
        print(examination);
        return examination.healthy() ? Main.DONE : Main.FAILED;
    }

    private void print(DoctorReport examination) {
        PrintWriter out = console.out();
        if (json) {
            out.println(JsonText.indented(examination.details()));
            return;
        }
        examination.lines().forEach((topic, sentences) -> printTopic(out, topic, sentences));
        out.println(
                examination.healthy()
                        ? "all checks passed"
                        : "CHECKS FAILED: " + String.join("; ", examination.problems()));
    }

    private static void printTopic(PrintWriter out, String topic, List<String> sentences) {
        String label = topic;
        for (String sentence : sentences) {
            out.printf("%-10s %s%n", label, sentence);
            label = "";
        }
    }
}
