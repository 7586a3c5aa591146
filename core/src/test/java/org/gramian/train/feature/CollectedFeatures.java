package org.gramian.train.feature;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.gramian.image.ReadResult.Unreadable;

/** All features that came, as bytes, in order. */
final class CollectedFeatures implements FeatureExtraction.Sink {
    private final List<String> places = new ArrayList<>();
    private final List<byte[]> features = new ArrayList<>();
    private final Map<Integer, Unreadable> unreadable = new LinkedHashMap<>();

    @Override
    public void feature(int sample, int crop, MemorySegment feature) {
        places.add(sample + "/" + crop);
        features.add(feature.toArray(JAVA_BYTE));
    }

    @Override
    public void unreadable(int sample, Unreadable problem) {
        assertThat(unreadable.put(sample, problem)).isNull();
    }

    List<String> places() {
        return places;
    }

    List<byte[]> features() {
        return features;
    }

    Map<Integer, Unreadable> unreadable() {
        return unreadable;
    }

    /** Why there is no feature of an image. */
    Unreadable problem(int sample) {
        return Objects.requireNonNull(unreadable.get(sample));
    }

    void requireSameAs(CollectedFeatures other) {
        assertThat(places).isEqualTo(other.places);
        for (int i = 0; i < features.size(); i++) {
            assertThat(features.get(i)).as("feature %s", places.get(i)).isEqualTo(other.features.get(i));
        }
        assertThat(unreadable).isEqualTo(other.unreadable);
    }
}
