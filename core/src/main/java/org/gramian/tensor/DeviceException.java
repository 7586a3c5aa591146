package org.gramian.tensor;

/** Thrown for a device that does not exist. */
public final class DeviceException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    DeviceException(String message) {
        super(message);
    }
}
