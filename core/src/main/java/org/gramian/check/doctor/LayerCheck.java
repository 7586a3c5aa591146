package org.gramian.check.doctor;

import java.util.ArrayList;
import java.util.List;
import org.gramian.check.PoolingCheck;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.library.Libtorch;

/** Checks the gradients of every layer of poolings by central differences, on one device. */
public final class LayerCheck {
    /** Poolings that together use every stage. */
    private static final List<String> POOLINGS = List.of(
            "conv:6/rbf/spd:4/relu/triu/root/l2",
            "rbf:sigma=mean-full/flat",
            "rbf:sigma=learned/spd:4/spd:3/triu",
            "rbf:sigma=2/reeig:0.5/triu",
            "rbf:sigma=estimate/triu",
            "laplacian:sigma=3/triu",
            "polynomial:degree=2,scale=0.5,offset=1/triu/root",
            "covariance:jitter=0.1/isqrt:5/triu",
            "covariance/isice:4/triu",
            "covariance:jitter=0.1/rbn/log/triu",
            "dropcov/covariance/triu",
            "democratic:gamma=0.3/triu",
            "(rbf+0.5*covariance*laplacian:sigma=3)/triu",
            "(rbf:sigma=learned*bilinear+rbf:sigma=mean-full)/flat",
            "democratic:gamma=0/flat",
            "covariance:jitter=0.1/log/triu",
            "bilinear:jitter=0.1/sqrt/triu",
            "bilinear:jitter=0.1/power:0.3/triu/l2",
            "pca:4/bilinear/triu",
            "average/root/l2",
            "max/l2",
            "sum",
            "sum:prior=center/l2",
            "gem:3/l2",
            "gem:2.5,learn=false",
            "pyramid:3/l2",
            "pyramid:2,of=max",
            "radam:3",
            "sot:2,size=3,iterations=2",
            "weighted/l2",
            "fisher:3,weights=true/l2",
            "netvlad:3/l2",
            "netvlad:3,unit=false/l2",
            "conv:6/deepten:3/l2",
            "vlad:2/l2",
            "mop:2/l2",
            "average/pca:1",
            "bilinear/sketch:9/root/l2",
            "bilinear/maclaurin:6/l2",
            "covariance/o2t:4/o2t:7/pv:3",
            "gaussian:jitter=0.1/sqrt/triu",
            "covariance:shrinkage=0.3/log/triu");

    private LayerCheck() {}

    /**
     * Checks everything.
     *
     * @param elements number of random elements of each input that are compared, if it has more; 10 take seconds, all take
     *     half a minute
     */
    public static List<CheckResult> run(Device device, int elements) {
        Libtorch libtorch = Libtorch.load();
        int threads = libtorch.threads();
        libtorch.setThreads(1); // synchronizing threads would take most of the time of thousands of tiny operators
        List<CheckResult> results = new ArrayList<>();
        try (Scope _ = Scope.open()) {
            for (String pooling : POOLINGS) {
                PoolingCheck.of(Pooling.parse(pooling), device, elements)
                        .inputs()
                        .forEach(input -> results.add(new CheckResult(
                                pooling + ": " + input.subject(), input.fromStated(), input.tolerance())));
            }
            return results;
        } finally {
            libtorch.setThreads(threads);
        }
    }
}
