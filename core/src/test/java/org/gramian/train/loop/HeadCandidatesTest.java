package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.gramian.train.loop.HeadSearch.Candidate;
import org.junit.jupiter.api.Test;

final class HeadCandidatesTest {
    private static final Candidate BASELINE = new Candidate("average", "layer:b/average");
    private static final Candidate BEST = new Candidate("best", "layer:b/covariance");
    private static final Candidate NEAR = new Candidate("near", "layer:b/rbf");
    private static final Candidate FAR = new Candidate("far", "layer:b/bilinear");
    private static final Candidate EARLY = new Candidate("early", "layer:a/covariance");
    private static final Candidate EARLY_WORSE = new Candidate("early, worse", "layer:a/rbf");

    private static boolean[] right(int count) {
        boolean[] correct = new boolean[300];
        for (int i = 0; i < count; i++) {
            correct[i] = true;
        }
        return correct;
    }

    @Test
    void bestOfEachLayerStaysHoweverFarBehind() {
        SequencedMap<Candidate, boolean[]> correct = new LinkedHashMap<>();
        correct.put(BASELINE, right(60));
        correct.put(BEST, right(240));
        correct.put(NEAR, right(235));
        correct.put(FAR, right(100));
        correct.put(EARLY, right(90));
        correct.put(EARLY_WORSE, right(80));
        assertThat(HeadSearch.promising(correct)).containsExactly(BASELINE, BEST, NEAR, EARLY);
    }
}
