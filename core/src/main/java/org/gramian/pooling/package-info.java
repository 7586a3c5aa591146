/**
 * From feature maps to a descriptor: kernel, transformation, vectorization, and what they are compared with.
 *
 * <p>A {@link org.gramian.pooling.Pooling} is three steps in the order of the data: {@link
 * org.gramian.pooling.Reduction}s of the channels (a 1×1 convolution, a PCA), an {@link
 * org.gramian.pooling.Aggregation} of all positions into one vector ({@link org.gramian.pooling.SecondOrder}, the
 * paper's path, or a statistic of each map, as {@link org.gramian.pooling.FirstOrder.Average} and {@link
 * org.gramian.pooling.FirstOrder.GeneralizedMean}), and {@link org.gramian.pooling.Normalization}s of that vector.
 * Methods of your own enter as a {@link org.gramian.pooling.CustomAggregation}; {@code docs/adding-a-method.md} adds
 * one to the words.
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
 * <p>{@link org.gramian.pooling.Words} lists the words of that form with their arguments, {@link
 * org.gramian.pooling.Methods} the methods that have a name of their own, with formula and reference.
 *
 * <p>{@link org.gramian.pooling.Fidelity} determines the defaults of arguments: those of the paper as printed, of its
 * authors' code, or corrected ones, as in {@code Pooling.parse("paper", Fidelity.AUTHORS)}.
 */
@NullMarked
package org.gramian.pooling;

import org.jspecify.annotations.NullMarked;
