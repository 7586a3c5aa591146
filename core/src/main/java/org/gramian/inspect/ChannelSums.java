package org.gramian.inspect;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;

/** Accumulates the covariances of feature maps over positions, and finds dead and duplicate channels. */
final class ChannelSums {
    private static final double DEAD = 1e-12;
    private static final double NEARLY_ALL = 0.95;
    private static final double ALIKE = 0.999;

    private double[] products = new double[0];
    private int[] still = new int[0];
    private int channels;
    private long positions;
    private int images;

    /** Adds maps {@code [n, C, N]}. */
    void add(Tensor maps) {
        channels = Math.toIntExact(maps.size(1));
        positions = maps.size(2);
        if (products.length == 0) {
            products = new double[Math.multiplyExact(channels, channels)];
            still = new int[channels];
        }
        try (Scope _ = Scope.open()) {
            Tensor exact = maps.to(Device.CPU).to(DType.F64);
            Tensor mean = exact.sum(2).mul(1.0 / positions);
            Tensor centred = exact.sub(mean);
            double[] together = centred.matmul(centred.transpose()).sum(0).toDoubles();
            Arrays.setAll(products, i -> products[i] + together[i]);
            double[] squares = centred.mul(centred).sum(2).toDoubles();
            for (int image = 0; image < maps.size(0); image++) {
                count(Arrays.copyOfRange(squares, image * channels, (image + 1) * channels));
            }
        }
    }

    private void count(double[] squares) {
        double largest = Arrays.stream(squares).max().orElse(0);
        for (int c = 0; c < channels; c++) {
            still[c] += squares[c] <= DEAD * largest ? 1 : 0;
        }
        images++;
    }

    DegenerateChannels result() {
        List<Integer> dead = new ArrayList<>();
        List<DegenerateChannels.Duplicate> duplicates = new ArrayList<>();
        for (int c = 0; c < channels; c++) {
            if (isDead(c)) {
                dead.add(c);
                continue;
            }
            for (int earlier = 0; earlier < c; earlier++) {
                double correlation = correlation(c, earlier);
                if (!isDead(earlier) && Math.abs(correlation) > ALIKE) {
                    duplicates.add(new DegenerateChannels.Duplicate(c, earlier, correlation));
                    break;
                }
            }
        }
        return new DegenerateChannels(channels, positions, images, dead, duplicates);
    }

    private boolean isDead(int channel) {
        return still[channel] >= NEARLY_ALL * images;
    }

    private double correlation(int a, int b) {
        double both = Math.sqrt(products[a * channels + a]) * Math.sqrt(products[b * channels + b]);
        return Math.clamp(products[a * channels + b] / both, -1.0, 1.0);
    }
}
