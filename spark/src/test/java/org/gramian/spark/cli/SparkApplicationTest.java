package org.gramian.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class SparkApplicationTest {
    private static final SparkConf NOTHING = new SparkConf(false);

    @Test
    void defaultNameReplacesMainClassButNotUserName() {
        SparkConf byDefault = NOTHING.clone().setAppName("org.gramian.spark.cli.SparkMain");

        assertThat(SparkApplication.name(NOTHING.clone().setAppName("nightly"), "ours"))
                .isEqualTo("nightly");
        assertThat(SparkApplication.name(byDefault, "ours")).isEqualTo("ours");
        assertThat(SparkApplication.name(NOTHING, "ours")).isEqualTo("ours");
    }

    @Test
    void executorOptionsAreDefaultsOnly() {
        String key = "spark.executor.defaultJavaOptions";

        assertThat(SparkApplication.settings(NOTHING.clone(), "ours").get(key))
                .isEqualTo("-XX:CompileThresholdScaling=5");
        assertThat(SparkApplication.settings(NOTHING.clone().set(key, "-Xss2m"), "ours")
                        .get(key))
                .isEqualTo("-Xss2m");
    }

    @Test
    void driverOnClusterIsRemoteAlsoOnKubernetes() {
        SparkConf client = NOTHING.clone().set("spark.submit.deployMode", "client");

        assertThat(SparkApplication.isRemote(NOTHING)).isFalse();
        assertThat(SparkApplication.isRemote(client)).isFalse();
        assertThat(SparkApplication.isRemote(NOTHING.clone().set("spark.submit.deployMode", "cluster")))
                .isTrue();
        assertThat(SparkApplication.isRemote(client.clone().set("spark.kubernetes.submitInDriver", "true")))
                .isTrue();
    }
}
