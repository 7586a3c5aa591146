/**
 * Linear classifiers in closed form or by convex solvers: rows {@code [n, d]} with labels to a weight {@code [k, d]} and a bias {@code
 * [k]}.
 *
 * <p>A {@link org.gramian.linear.LinearSolver} is an {@link org.gramian.linear.Svm}, {@link org.gramian.linear.NearestMean} or {@link org.gramian.linear.Lda}, with a text form such as {@code svm:C=10}. {@link
 * org.gramian.linear.LabelledRows} group rows that are not independent, such as the crops of an image. A {@link
 * org.gramian.linear.CrossValidation} over groups fits the softmax temperature and scales of classes, which calibrate the scores.
 *
 * <pre>{@code
 * LabelledRows rows = LabelledRows.of(descriptors, labels, images, 10);
 * LinearModel model = LinearSolver.parse("svm").solve(rows, LinearSolver.SolverListener.NONE);
 * model.found();                                          // {C=10.0, folds=5.0, gap=5.1E-7, passes=40.0, ...}
 * model.crossValidation().orElseThrow().accuracy();       // out-of-fold accuracy over groups
 * }</pre>
 */
@NullMarked
package org.gramian.linear;

import org.jspecify.annotations.NullMarked;
