package org.gramian.export.graph;

/** Says that a model has a part that the operators of ONNX do not express, which one, why, and what to use instead. */
public final class NotExpressibleException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    NotExpressibleException(String what) {
        super("cannot be exported to ONNX: " + what);
    }
}
