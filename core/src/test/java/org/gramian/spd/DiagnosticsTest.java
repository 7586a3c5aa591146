package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;

import org.gramian.spd.SampleMatrices.Defect;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SingleThreaded.class)
@ExtendWith(Scoped.class)
class DiagnosticsTest {
    @RandomTest(times = 8)
    void deadAndDuplicateChannelsAreCounted(Seed seed) {
        for (DType type : new DType[] {DType.F64, DType.F32}) {
            assertThat(channels(seed, Defect.NONE, type)).isEqualTo(new Diagnostics.Channels(9, 0, 0));
            assertThat(channels(seed, Defect.REPEATED, type)).isEqualTo(new Diagnostics.Channels(9, 0, 1));
            assertThat(channels(seed, Defect.DEAD, type)).isEqualTo(new Diagnostics.Channels(9, 1, 0));
            assertThat(channels(seed, Defect.TWO_DEAD, type)).isEqualTo(new Diagnostics.Channels(9, 2, 0));
        }
    }

    private static Diagnostics.Channels channels(Seed seed, Defect defect, DType type) {
        try (Scope _ = Scope.open()) {
            return Diagnostics.channels(SampleMatrices.maps(SampleMatrices.random(seed), defect, 3, 9, 14)
                    .to(type));
        }
    }

    @RandomTest(times = 4)
    void findsDuplicatesInFloat32ForManyPositions(Seed seed) {
        for (long positions : new long[] {49, 196, 784, 3136, 12544}) {
            try (Scope _ = Scope.open()) {
                Tensor maps = SampleMatrices.maps(SampleMatrices.random(seed), Defect.REPEATED, 1, 9, positions);
                Tensor rectified = maps.add(0.5).relu();
                assertThat(Diagnostics.channels(rectified.to(DType.F32)))
                        .as("%d positions, %s", positions, seed)
                        .isEqualTo(new Diagnostics.Channels(9, 0, 1));
            }
        }
    }

    @Test
    void channelThatLivesInOneImageIsNotDead() {
        Tensor maps = SampleMatrices.gaussian(SampleMatrices.random(2), 2, 5, 8);
        maps.slice(0, 0, 1).slice(1, 1, 2).fill(0);
        assertThat(Diagnostics.channels(maps)).isEqualTo(new Diagnostics.Channels(5, 0, 0));
        maps.slice(0, 0, 1).slice(1, 2, 3).copyFrom(maps.slice(0, 0, 1).slice(1, 4, 5));
        assertThat(Diagnostics.channels(maps))
                .as("equal in one image only")
                .isEqualTo(new Diagnostics.Channels(5, 0, 0));
    }

    @Test
    void channelsFarFromOriginAreNotTakenForDuplicates() {
        Tensor maps = SampleMatrices.gaussian(SampleMatrices.random(3), 1, 20, 30)
                .mul(0.01)
                .add(100);
        assertThat(Diagnostics.channels(maps.to(DType.F32))).isEqualTo(new Diagnostics.Channels(20, 0, 0));
    }

    @Test
    void allChannelsMayBeDead() {
        assertThat(Diagnostics.channels(Tensors.zeros(Shape.of(2, 4, 3), DType.F32, Device.CPU)))
                .isEqualTo(new Diagnostics.Channels(4, 4, 0));
    }
}
