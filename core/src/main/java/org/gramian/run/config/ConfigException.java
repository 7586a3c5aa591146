package org.gramian.run.config;

/** Reports an invalid configuration; the message names the key, the expected and the found value. */
public final class ConfigException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    public ConfigException(String message) {
        super(message);
    }

    public ConfigException(String message, Throwable cause) {
        super(message, cause);
    }
}
