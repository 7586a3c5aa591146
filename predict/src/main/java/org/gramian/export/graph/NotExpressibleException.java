package org.gramian.export.graph;

/** The model has a part without an ONNX formula, or is too large. The message names it and what to use instead. */
public final class NotExpressibleException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    public NotExpressibleException(String what) {
        super("cannot be exported to ONNX: " + what);
    }
}
