package org.gramian.run.config;

/** A configuration that cannot be used; the message names the key, what was expected and what was found. */
public final class ConfigException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    public ConfigException(String message) {
        super(message);
    }

    public ConfigException(String message, Throwable cause) {
        super(message, cause);
    }
}
