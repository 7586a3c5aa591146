/**
 * Poolings: feature maps {@code [n, c, h, w]} to descriptors {@code [n, d]}.
 *
 * <p>A {@link org.gramian.pooling.Pooling} has three steps: {@link org.gramian.pooling.Reduction}s of the channels (1×1
 * convolution, PCA), an {@link org.gramian.pooling.Aggregation} of all positions to one vector ({@link
 * org.gramian.pooling.SecondOrder}, {@link org.gramian.pooling.FirstOrder}, {@link org.gramian.pooling.Codebook} and
 * others), and {@link org.gramian.pooling.Normalization}s of the vector. A {@link
 * org.gramian.pooling.CustomAggregation} adds your own method; {@code docs/adding-a-method.md} shows how.
 *
 * <p>Each pooling has one text form, used on the command line, in configuration and in model files:
 *
 * <pre>{@code
 * Pooling paper = Pooling.parse("conv:512/rbf/spd:512/relu/triu/root/l2");
 * ParameterSet parameters = paper.initialize(512, random, DType.F32, Device.CPU);
 * try (Tape tape = Tape.inference()) {
 *     Var descriptors = paper.apply(tape.constant(features), Bindings.of(parameters.variables(tape)));
 * }
 * }</pre>
 *
 * <p>{@link org.gramian.pooling.PoolingStage#all} lists the stages of that form with their arguments, {@link
 * org.gramian.pooling.Methods} the named methods with formula and reference.
 *
 * <p>{@link org.gramian.pooling.Fidelity} determines the defaults of arguments: those of the paper as printed, of its
 * authors' code, or corrected ones, as in {@code Pooling.parse("paper", Fidelity.AUTHORS)}.
 */
@NullMarked
package org.gramian.pooling;

import org.jspecify.annotations.NullMarked;
