package org.gramian.cli.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.assertj.core.data.Offset;
import org.gramian.benchmarks.BenchWorkload;
import org.gramian.cli.Run;
import org.gramian.cli.common.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class BenchCommandTest {
    private static Run bench(Object... arguments) {
        List<String> small = List.of(
                "bench",
                "--device=cpu",
                "--threads=1",
                "--repeat=2",
                "--warmup=0",
                "--channels=8",
                "--side=3",
                "--classes=3",
                "--pooling=conv:8/rbf/spd:4/relu/triu/root/l2");
        return Run.of(Stream.concat(small.stream(), Stream.of(arguments)).toArray());
    }

    @Test
    void theTableAndTheFileHoldTheSameNumbers(@TempDir Path folder) throws IOException {
        Path json = folder.resolve("bench.json");
        Run run = bench("--only", "head-forward", "--batch", "2", "--json", json);
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out())
                .startsWith("workload ")
                .contains("TFLOP/s", "memory")
                .containsPattern("head, .*\\b2, f32 +gramian ");
        JsonNode tree = JsonMapper.shared().readTree(Files.readString(json));
        JsonNode side = tree.get("measurements").get(0).get("sides").get(0);
        assertThat(side.get("seconds").size()).isEqualTo(2);
        assertThat(side.get("imagesPerSecond").asDouble() * side.get("median").asDouble())
                .isCloseTo(2, Offset.offset(1e-6));
        assertThat(tree.get("facts").get("libtorch").asString()).isNotEmpty();
    }

    @Test
    void everyWorkloadIsDocumentedUnderTheNameThatTheProgramTakes() throws IOException {
        String row = Files.readAllLines(Path.of("../docs/performance.md")).stream()
                .filter(line -> line.startsWith("| `--only"))
                .findFirst()
                .orElseThrow();
        List<String> names = Pattern.compile("`([a-z]+)`")
                .matcher(row)
                .results()
                .map(match -> match.group(1))
                .toList();
        assertThat(BenchWorkload.chosen(names)).containsExactlyInAnyOrder(BenchWorkload.values());
    }

    @Test
    void aPythonThatIsMissingIsWrongInputAndNothingIsMeasured() {
        Run run = bench("--only", "head", "--against-python", "no-such-python");
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).has(facts("no-such-python"));
    }

    @Test
    void wrongWordsAreRefusedWithTheRightOnes() {
        Run workload = bench("--only", "hed");
        assertThat(workload.code()).isEqualTo(ExitCode.USAGE);
        assertThat(workload.err()).has(facts("'hed'", "head", "network"));
        assertThat(bench("--precision", "f16").err()).has(facts("'f16'", "f32", "tf32", "bf16"));
        assertThat(bench("--precision", "tf32").err()).has(facts("f32", "bf16"));
        assertThat(bench("--sides", "jax").err()).has(facts("'jax'", "python", "python-compiled", "python-graphs"));
        Run graphs = bench("--sides", "python-graphs");
        assertThat(graphs.code()).isEqualTo(ExitCode.USAGE);
        assertThat(graphs.err()).has(facts("python-graphs", "GPU", "python-compiled"));
        assertThat(bench("--only", "network", "--backbone", "vgg17").err()).contains("vgg16");
        assertThat(bench("--batch", "0").code()).isEqualTo(ExitCode.USAGE);
    }
}
