package org.gramian.pooling;

import java.util.ArrayList;
import java.util.List;
import org.gramian.spd.Backward;
import org.gramian.spd.Bilinear;
import org.gramian.spd.Covariance;
import org.gramian.spd.Gaussian;
import org.gramian.spd.Kernel;
import org.gramian.spd.Laplacian;
import org.gramian.spd.Polynomial;
import org.gramian.spd.Rbf;
import org.gramian.spd.Sigma;

/** Kernels as text, as {@code rbf:sigma=mean-full}; arguments at their default are left out. */
final class KernelText {
    private KernelText() {}

    /** The first word of the text, under which the kernel's parameters are named. */
    static String word(Kernel kernel) {
        return switch (kernel) {
            case Rbf k -> "rbf";
            case Laplacian k -> "laplacian";
            case Polynomial k -> "polynomial";
            case Covariance k -> "covariance";
            case Bilinear k -> "bilinear";
            case Gaussian k -> "gaussian";
        };
    }

    static String of(Kernel kernel) {
        List<String> arguments = new ArrayList<>();
        switch (kernel) {
            case Rbf rbf when !(rbf.sigma() instanceof Sigma.Mean) -> arguments.add("sigma=" + sigma(rbf.sigma()));
            case Laplacian laplacian -> arguments.add("sigma=" + Words.number(laplacian.sigma()));
            case Polynomial polynomial -> {
                arguments.add("degree=" + polynomial.degree());
                arguments.add("scale=" + Words.number(polynomial.scale()));
                arguments.add("offset=" + Words.number(polynomial.offset()));
            }
            case Covariance covariance
            when covariance.shrinkage() > 0 -> arguments.add("shrinkage=" + Words.number(covariance.shrinkage()));
            default -> {}
        }
        if (kernel.jitter() != Words.defaultJitter(word(kernel))) {
            arguments.add("jitter=" + Words.number(kernel.jitter()));
        }
        if (kernel instanceof Rbf rbf && rbf.backward() != Backward.EXACT) {
            arguments.add("gradient=" + rbf.backward().text());
        }
        return arguments.isEmpty() ? word(kernel) : word(kernel) + ":" + String.join(",", arguments);
    }

    private static String sigma(Sigma sigma) {
        return switch (sigma) {
            case Sigma.Mean s -> "mean";
            case Sigma.MeanFull s -> "mean-full";
            case Sigma.Estimate s -> "estimate";
            case Sigma.Learned s -> "learned";
            case Sigma.Fixed fixed -> Words.number(fixed.value());
        };
    }
}
