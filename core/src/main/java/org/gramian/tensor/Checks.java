package org.gramian.tensor;

/** Checks of operator arguments; messages name the operator and both shapes. */
final class Checks {
    private Checks() {}

    static IllegalArgumentException mismatch(String operation, Tensor a, Tensor b, String rule) {
        return new IllegalArgumentException(operation + ": " + a + " and " + b + " do not fit: " + rule);
    }

    static void sameShape(String operation, Tensor a, Tensor b) {
        if (!a.shape().equals(b.shape())) {
            throw mismatch(operation, a, b, "both shapes must be equal");
        }
    }

    /** Checks for the same type and device; a scalar on the CPU combines with any device. */
    static void sameKind(String operation, Tensor a, Tensor b) {
        if (a.type() != b.type()) {
            throw mismatch(operation, a, b, "both types must be equal");
        }
        boolean together = a.device().equals(b.device()) || isHostNumber(a) || isHostNumber(b);
        if (!together) {
            throw mismatch(operation, a, b, "both must be on the same device");
        }
    }

    private static boolean isHostNumber(Tensor a) {
        return a.shape().rank() == 0 && a.device().kind() == Device.Kind.CPU;
    }

    static void broadcastable(String operation, Tensor a, Tensor b) {
        sameKind(operation, a, b);
        int rank = Math.min(a.shape().rank(), b.shape().rank());
        for (int i = 1; i <= rank; i++) {
            long m = a.size(-i);
            long n = b.size(-i);
            if (m != n && m != 1 && n != 1) {
                throw mismatch(operation, a, b, "trailing sizes must be equal or 1, found " + m + " and " + n);
            }
        }
    }

    static void floating(String operation, Tensor a) {
        if (!a.type().isFloating()) {
            throw new IllegalArgumentException(operation + ": expected a floating-point tensor, found " + a);
        }
    }

    static void rank(String operation, Tensor a, int wanted) {
        if (a.shape().rank() != wanted) {
            throw new IllegalArgumentException(
                    operation + ": expected a tensor of " + wanted + " dimensions, found " + a);
        }
    }

    static void square(String operation, Tensor a) {
        floating(operation, a);
        if (a.shape().rank() < 2 || a.size(-1) != a.size(-2)) {
            throw new IllegalArgumentException(operation + ": expected square matrices, found " + a);
        }
    }
}
