package org.gramian.pooling;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/** Poolings with a name of their own. */
public final class Presets {
    private static final SequencedMap<String, String> ALL = new LinkedHashMap<>();

    static {
        ALL.put("default", "conv:512/rbf/spd:128/relu/triu/root/l2"); // the best of our reference figures on FMD
        ALL.put("paper", "conv:512/rbf/spd:512/relu/triu/root/l2");
        ALL.put("paper-kernel", "conv:512/rbf/flat");
        ALL.put("paper-kernel-128", "conv:128/rbf/flat");
        ALL.put("paper-kernel-no-conv", "rbf/flat");
        ALL.put("kernel", "conv:512/rbf/triu/root/l2");
        ALL.put("bcnn", "bilinear/triu/root/l2");
        ALL.put("isqrt", "conv:256/covariance/isqrt:5/triu");
        ALL.put("mpn-cov", "conv:256/covariance/sqrt/triu");
        ALL.put("log-euclidean", "conv:256/covariance/log/triu");
    }

    private Presets() {}

    /** Names and texts. */
    public static SequencedMap<String, String> all() {
        return Collections.unmodifiableSequencedMap(ALL);
    }
}
