package org.gramian.anomaly;

import java.util.List;
import java.util.SequencedMap;
import org.gramian.basis.JsonText;

/**
 * Result of inspecting an image.
 *
 * @param score distance from good images; 1 is typical of a good image, independent of backbone and detector
 * @param pValue share of good images that are at least as odd, in (0, 1]: conformal, see {@link Detector#falseAlarms}
 * @param isAnomalous whether the p-value is at most the rate of false alarms
 * @param map where the image differs
 * @param regions regions of the map that good images exceed at most at the rate of false alarms; empty for a good image
 * @since 0.1
 */
public record Inspection(
        double score, double pValue, boolean isAnomalous, AnomalyMap map, List<AnomalyMap.Region> regions) {
    public Inspection {
        regions = List.copyOf(regions);
    }

    /** Returns the score, the p-value, whether the image is anomalous, and the regions as a JSON object. */
    public String toJson() {
        return JsonText.of(asMap());
    }

    /** Returns the content of {@link #toJson}, by name. */
    public SequencedMap<String, Object> asMap() {
        return JsonText.object("anomalous", isAnomalous, "score", score, "p_value", pValue, "regions", regions);
    }
}
