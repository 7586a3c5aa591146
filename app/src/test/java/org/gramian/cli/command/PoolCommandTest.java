package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.gramian.cli.Run;
import org.gramian.cli.common.ExitCode;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.file.Npy;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PoolCommandTest {
    private static final Path HEAD = Path.of("..", "core", "src", "test", "resources", "golden", "head.safetensors");
    private static final String POOLING = "conv:7/rbf/spd:4/relu/triu/root/l2";

    @TempDir
    private Path folder = Path.of("");

    private Path features = Path.of("");
    private Path params = Path.of("");
    private Path upstream = Path.of("");
    private Path out = Path.of("");

    /** Lays out the reference head's tensors as a user would bring them. */
    @BeforeEach
    void writeInputs() throws IOException {
        features = folder.resolve("features.safetensors");
        params = folder.resolve("params.safetensors");
        upstream = folder.resolve("upstream.safetensors");
        out = folder.resolve("out.safetensors");
        try (Arena arena = Arena.ofShared();
                Scope _ = Scope.open()) {
            TensorFile head = Safetensors.read(HEAD, arena);
            Safetensors.write(features, Map.of("features", head.get("x")), Map.of());
            Safetensors.write(
                    params,
                    Map.of(
                            "conv.weight", head.get("convWeight"),
                            "conv.bias", head.get("convBias"),
                            "spd0.weight", head.get("W")),
                    Map.of());
            Safetensors.write(upstream, Map.of("upstream", StoredTensor.of(upstreamOf(head))), Map.of());
        }
    }

    /** The gradient of the mean cross-entropy with respect to z: (softmax − one-hot)/n · W. */
    private static Tensor upstreamOf(TensorFile head) throws IOException {
        Tensor p = head.get("logits").toTensor().softmax();
        double[] difference = p.toDoubles();
        long[] targets = head.get("target").toTensor().toLongs();
        for (int i = 0; i < targets.length; i++) {
            difference[i * 3 + (int) targets[i]] -= 1;
        }
        Tensor g = Tensors.of(difference, Shape.of(3, 3), DType.F64);
        return g.matmul(head.get("fcWeight").toTensor()).mul(1.0 / 3);
    }

    private Run pool(Object... more) {
        Object[] arguments = new Object[more.length + 5];
        System.arraycopy(new Object[] {"pool", "--pooling", POOLING, features, out}, 0, arguments, 0, 5);
        System.arraycopy(more, 0, arguments, 5, more.length);
        return Run.of(arguments);
    }

    private static void assertClose(StoredTensor found, StoredTensor expected, double tolerance) {
        try (Scope _ = Scope.open()) {
            double[] a = found.toTensor().toDoubles();
            double[] b = expected.toTensor().toDoubles();
            assertThat(a).hasSameSizeAs(b);
            double scale = Arrays.stream(b).map(Math::abs).max().orElseThrow();
            for (int i = 0; i < a.length; i++) {
                assertThat(a[i]).isCloseTo(b[i], within(tolerance * scale));
            }
        }
    }

    @Test
    void theFeaturesDecideHowManyAxesMostAre() {
        Run run = Run.of("pool", "--pooling", "average/pca:most", features, out).done();
        assertThat(run.out()).has(facts("3", "2", "average/pca:2"));
    }

    @Test
    void descriptorsAndGradientsAreTheReferenceValues() throws IOException {
        Map<String, String> references = new LinkedHashMap<>();
        references.put("descriptors", "z");
        references.put("grad.features", "dx");
        references.put("grad.conv.weight", "dConvWeight");
        references.put("grad.conv.bias", "dConvBias");
        references.put("grad.spd0.weight", "dW");
        for (Map.Entry<String, Double> precision :
                Map.of("f64", 1e-9, "f32", 1e-4).entrySet()) {
            Run run = pool("--params", params, "--upstream", upstream, "--dtype", precision.getKey(), "--device", "cpu")
                    .done();
            try (Arena arena = Arena.ofShared()) {
                TensorFile head = Safetensors.read(HEAD, arena);
                TensorFile written = Safetensors.read(out, arena);
                assertThat(written.tensors().keySet()).containsExactlyInAnyOrderElementsOf(references.keySet());
                for (Map.Entry<String, String> reference : references.entrySet()) {
                    assertClose(written.get(reference.getKey()), head.get(reference.getValue()), precision.getValue());
                }
                assertThat(written.metadata()).containsEntry("pooling", POOLING);
            }
        }
    }

    @Test
    void theSizeOfTheBatchDoesNotMatter() throws IOException {
        for (int batch : new int[] {1, 2, 32}) {
            Run run = pool("--params", params, "--upstream", upstream, "--dtype", "f64", "--batch", batch)
                    .done();
            try (Arena arena = Arena.ofShared()) {
                TensorFile head = Safetensors.read(HEAD, arena);
                assertClose(Safetensors.read(out, arena).get("grad.spd0.weight"), head.get("dW"), 1e-9);
            }
        }
    }

    @Test
    void npyComesInAndGoesOut() throws IOException {
        Path npy = folder.resolve("features.npy");
        Path result = folder.resolve("descriptors.npy");
        try (Arena arena = Arena.ofShared()) {
            Npy.write(npy, Safetensors.read(HEAD, arena).get("x"));
            Run run = Run.of("pool", "--pooling", POOLING, "--params", params, "--dtype", "f64", npy, result)
                    .done();
            assertClose(Npy.read(result, arena), Safetensors.read(HEAD, arena).get("z"), 1e-9);
        }
    }

    @Test
    void randomParametersFollowTheSeedAndAreAnnounced() throws IOException {
        Run run = pool("--seed", 3);
        assertThat(run.err()).has(facts("conv.weight", "conv.bias", "spd0.weight", "--seed"));
        byte[] first = Files.readAllBytes(out);
        pool("--seed", 3);
        assertThat(Files.readAllBytes(out)).isEqualTo(first);
        pool("--seed", 4);
        assertThat(Files.readAllBytes(out)).isNotEqualTo(first);
    }

    @Test
    void whatIsFittedIsFittedToTheseFeatures() {
        Run run = Run.of("pool", "--pooling", "pca:3/rbf:sigma=estimate/triu", features, out)
                .done();
        assertThat(run.err()).has(facts("pca.mean", "pca.components", "rbf.sigma"));
    }

    @Test
    void parametersThatDoNotFitAreNamed() throws IOException {
        Run.of("pool", "--pooling", "conv:7/rbf:sigma=learned/spd:4/triu", "--params", params, features, out)
                .failed(ExitCode.USAGE, "rbf.logSigma");
        Run extra = Run.of("pool", "--pooling", "conv:7/rbf/triu", "--params", params, features, out);
        assertThat(extra.err()).has(facts("spd0.weight"));
        Run shape = Run.of("pool", "--pooling", "conv:7/rbf/spd:5/triu", "--params", params, features, out);
        assertThat(shape.err()).has(facts("spd0.weight", "[7, 5]")).has(facts("[7, 4]"));
    }
}
