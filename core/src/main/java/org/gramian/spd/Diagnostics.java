package org.gramian.spd;

import java.util.Arrays;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;

/** Diagnostics of feature maps. */
public final class Diagnostics {
    private Diagnostics() {}

    /**
     * Channels that make matrices singular.
     *
     * @param channels number of channels
     * @param dead channels that are 0 everywhere in every image
     * @param duplicate channels, not dead, that equal an earlier one in every image
     */
    public record Channels(long channels, long dead, long duplicate) {}

    /** Counts dead and duplicate channels of maps {@code [n, C, N]}. */
    public static Channels channels(Tensor maps) {
        try (Scope _ = Scope.open()) {
            int count = Math.toIntExact(maps.size(1));
            double[] squares = maps.mul(maps).sum(0, 2).toDoubles();
            double[] distances = SquaredDistances.squaredOrZero(SquaredDistances.centred(maps))
                    .sum(0)
                    .toDoubles();
            long dead = Arrays.stream(squares).filter(s -> s == 0).count();
            long duplicate = 0;
            for (int i = 0; i < count; i++) {
                boolean found = false;
                for (int j = 0; j < i && !found; j++) {
                    found = squares[i] != 0 && distances[i * count + j] == 0;
                }
                duplicate += found ? 1 : 0;
            }
            return new Channels(count, dead, duplicate);
        }
    }
}
