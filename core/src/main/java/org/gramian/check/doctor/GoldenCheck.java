package org.gramian.check.doctor;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;

/**
 * Compares every layer, forward and backward, with reference values in float64.
 *
 * @param type the type to compute in
 * @param device the device to compute on
 */
public record GoldenCheck(DType type, Device device) {
    /** Tolerances well above the rounding of the small reference problems. */
    private static final Map<DType, Double> TOLERANCES = Map.of(DType.F64, 1e-9, DType.F32, 1e-4);

    public GoldenCheck {
        if (!TOLERANCES.containsKey(type)) {
            throw new IllegalArgumentException("expected golden values in F64 or F32, found " + type);
        }
    }

    /**
     * Results of a folder of reference files.
     *
     * @param outcomes one per reference tensor
     * @param others files of unknown layers
     */
    public record Report(List<CheckResult> outcomes, List<String> others) {
        public boolean passed() {
            return !outcomes.isEmpty() && outcomes.stream().allMatch(CheckResult::passed);
        }
    }

    /**
     * Compares all files of a folder.
     *
     * @throws IOException if the folder or a file cannot be read
     */
    public Report compare(Path folder) throws IOException {
        List<CheckResult> outcomes = new ArrayList<>();
        List<String> others = new ArrayList<>();
        for (Path file : files(folder)) {
            String name = file.getFileName().toString().replace(".safetensors", "");
            if (GoldenLayers.names().contains(name)) {
                outcomes.addAll(compare(name, file));
            } else {
                others.add(name);
            }
        }
        return new Report(outcomes, others);
    }

    /**
     * Checks a folder before other work.
     *
     * @throws IOException if it has no reference files
     */
    public static void require(Path folder) throws IOException {
        var _ = files(folder);
    }

    private static List<Path> files(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            throw new IOException("expected a folder of reference files (*.safetensors), found "
                    + (Files.exists(folder) ? "the file " : "nothing at ") + folder);
        }
        try (Stream<Path> all = Files.list(folder)) {
            List<Path> files = all.filter(f -> f.toString().endsWith(".safetensors"))
                    .sorted()
                    .toList();
            if (files.isEmpty()) {
                throw new IOException("no reference files (*.safetensors) in " + folder);
            }
            return files;
        }
    }

    private List<CheckResult> compare(String name, Path path) throws IOException {
        try (Arena arena = Arena.ofShared();
                Scope _ = Scope.open()) {
            TensorFile file = Safetensors.read(path, arena);
            GoldenValues values = new GoldenValues(file, type, device);
            List<CheckResult> outcomes = new ArrayList<>();
            for (Map.Entry<String, Tensor> computed :
                    GoldenLayers.compute(name, values).entrySet()) {
                Tensor expected = file.get(computed.getKey()).toTensor();
                outcomes.add(new CheckResult(
                        name + ": " + computed.getKey(),
                        error(computed.getValue(), expected),
                        TOLERANCES.getOrDefault(type, 0.0)));
            }
            return outcomes;
        }
    }

    /** Returns the largest deviation relative to the largest magnitude of the expected tensor; infinite for other shapes. */
    static double error(Tensor found, Tensor expected) {
        if (found.shape().elements() != expected.shape().elements()) {
            return Double.POSITIVE_INFINITY;
        }
        Tensor host =
                found.to(Device.CPU).to(DType.F64).reshape(expected.shape().sizes());
        if (!host.allFinite()) {
            return Double.NaN;
        }
        double scale = expected.largestMagnitude();
        double deviation = host.sub(expected).largestMagnitude();
        return scale == 0 ? deviation : deviation / scale;
    }

    /** Tensors of one reference file in the type and on the device that is checked. */
    record GoldenValues(TensorFile file, DType type, Device device) {
        Tensor get(String name) throws TensorFileException {
            Tensor stored = file.get(name).toTensor();
            DType wanted = stored.type().isFloating() ? type : stored.type();
            return stored.to(wanted).to(device);
        }
    }
}
