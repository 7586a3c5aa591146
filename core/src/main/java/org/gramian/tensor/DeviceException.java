package org.gramian.tensor;

/** A device that has no such name, or is not there. */
public final class DeviceException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    DeviceException(String message) {
        super(message);
    }
}
