package org.gramian.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class SessionTest {
    private static final SparkConf NOTHING = new SparkConf(false);

    @Test
    void aProgramHasTheNameThatTheUserGaveAndOursWhereSparkSubmitPutTheMainClass() {
        SparkConf byDefault = NOTHING.clone().setAppName("org.gramian.spark.cli.Main");

        assertThat(Session.name(NOTHING.clone().setAppName("nightly"), "ours")).isEqualTo("nightly");
        assertThat(Session.name(byDefault, "ours")).isEqualTo("ours");
        assertThat(Session.name(NOTHING, "ours")).isEqualTo("ours");
    }

    @Test
    void executorsCompileLaterUnlessTheUserSaysHowTheyAreStarted() {
        String key = "spark.executor.defaultJavaOptions";

        assertThat(Session.settings(NOTHING.clone(), "ours").get(key)).isEqualTo("-XX:CompileThresholdScaling=5");
        assertThat(Session.settings(NOTHING.clone().set(key, "-Xss2m"), "ours").get(key))
                .isEqualTo("-Xss2m");
    }

    @Test
    void aDriverOnTheClusterIsRemoteThoughThatOfKubernetesCallsItselfAClient() {
        SparkConf client = NOTHING.clone().set("spark.submit.deployMode", "client");

        assertThat(Session.isRemote(NOTHING)).isFalse();
        assertThat(Session.isRemote(client)).isFalse();
        assertThat(Session.isRemote(NOTHING.clone().set("spark.submit.deployMode", "cluster")))
                .isTrue();
        assertThat(Session.isRemote(client.clone().set("spark.kubernetes.submitInDriver", "true")))
                .isTrue();
    }
}
