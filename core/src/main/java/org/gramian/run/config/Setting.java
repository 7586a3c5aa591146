package org.gramian.run.config;

/**
 * One value of the configuration.
 *
 * @param key name of the key, as {@code stage1.rate}
 * @param text the value as its form writes it
 * @param origin where it came from
 */
public record Setting(String key, String text, Origin origin) {}
