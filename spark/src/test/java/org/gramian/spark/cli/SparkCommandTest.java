package org.gramian.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class SparkCommandTest {
    private static final SparkConf NOTHING = new SparkConf(false);

    @Test
    void defaultNameReplacesMainClassButNotUserName() {
        SparkConf byDefault = NOTHING.clone().setAppName("org.gramian.spark.cli.SparkMain");

        assertThat(SparkCommand.name(NOTHING.clone().setAppName("nightly"), "ours"))
                .isEqualTo("nightly");
        assertThat(SparkCommand.name(byDefault, "ours")).isEqualTo("ours");
        assertThat(SparkCommand.name(NOTHING, "ours")).isEqualTo("ours");
    }

    @Test
    void driverOnClusterIsRemoteAlsoOnKubernetes() {
        SparkConf client = NOTHING.clone().set("spark.submit.deployMode", "client");

        assertThat(SparkCommand.isRemote(NOTHING)).isFalse();
        assertThat(SparkCommand.isRemote(client)).isFalse();
        assertThat(SparkCommand.isRemote(NOTHING.clone().set("spark.submit.deployMode", "cluster")))
                .isTrue();
        assertThat(SparkCommand.isRemote(client.clone().set("spark.kubernetes.submitInDriver", "true")))
                .isTrue();
    }
}
