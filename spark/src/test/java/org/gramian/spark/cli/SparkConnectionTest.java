package org.gramian.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class SparkConnectionTest {
    private static final SparkConf NOTHING = new SparkConf(false);

    @Test
    void aProgramHasTheNameThatTheUserGaveAndOursWhereSparkSubmitPutTheMainClass() {
        SparkConf byDefault = NOTHING.clone().setAppName("org.gramian.spark.cli.Main");

        assertThat(SparkConnection.name(NOTHING.clone().setAppName("nightly"), "ours"))
                .isEqualTo("nightly");
        assertThat(SparkConnection.name(byDefault, "ours")).isEqualTo("ours");
        assertThat(SparkConnection.name(NOTHING, "ours")).isEqualTo("ours");
    }

    @Test
    void executorsCompileLaterUnlessTheUserSaysHowTheyAreStarted() {
        String key = "spark.executor.defaultJavaOptions";

        assertThat(SparkConnection.settings(NOTHING.clone(), "ours").get(key))
                .isEqualTo("-XX:CompileThresholdScaling=5");
        assertThat(SparkConnection.settings(NOTHING.clone().set(key, "-Xss2m"), "ours")
                        .get(key))
                .isEqualTo("-Xss2m");
    }

    @Test
    void aDriverOnTheClusterIsRemoteThoughThatOfKubernetesCallsItselfAClient() {
        SparkConf client = NOTHING.clone().set("spark.submit.deployMode", "client");

        assertThat(SparkConnection.isRemote(NOTHING)).isFalse();
        assertThat(SparkConnection.isRemote(client)).isFalse();
        assertThat(SparkConnection.isRemote(NOTHING.clone().set("spark.submit.deployMode", "cluster")))
                .isTrue();
        assertThat(SparkConnection.isRemote(client.clone().set("spark.kubernetes.submitInDriver", "true")))
                .isTrue();
    }
}
