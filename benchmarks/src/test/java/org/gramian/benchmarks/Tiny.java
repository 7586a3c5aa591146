package org.gramian.benchmarks;

import java.util.ArrayList;
import java.util.List;
import org.gramian.tensor.Device;

/** Plans that take little time, and what is said about them. */
final class Tiny implements Bench.Listener {
    static final BenchPlan.Sizes SIZES =
            new BenchPlan.Sizes("conv:12/rbf/spd:12/relu/triu/root/l2", "squeezenet", 12, 4, 48, 5);
    static final BenchPlan.Runs ONCE = new BenchPlan.Runs(0, 1, 0);

    final List<String> said = new ArrayList<>();
    final List<BenchReport> reports = new ArrayList<>();

    static BenchPlan.Grid grid(Precision... precisions) {
        return new BenchPlan.Grid(List.of(3), List.of(precisions), Device.CPU, 1);
    }

    static BenchPlan plan(BenchWorkload... workloads) {
        return new BenchPlan(List.of(workloads), grid(Precision.F32), SIZES, ONCE);
    }

    static TaskSpec spec(BenchWorkload workload) {
        return plan(workload).spec(workload.text(), 3, Precision.F32);
    }

    @Override
    public void say(String sentence) {
        said.add(sentence);
    }

    @Override
    public void measured(BenchReport soFar) {
        reports.add(soFar);
    }
}
