/**
 * Linear classifiers that are solved for and not descended to: each is a matrix {@code [k, d]} and a bias {@code [k]}, found
 * from rows {@code [n, d]} with labels.
 *
 * <p>A {@link org.gramian.linear.LinearSolver} is a {@link org.gramian.linear.Svm}, a {@link org.gramian.linear.Logistic}, a
 * {@link org.gramian.linear.NearestMean} or an {@link org.gramian.linear.Lda}, and has a text, as {@code svm:C=10}. It takes {@link
 * org.gramian.linear.LabelledRows}, which say besides which rows belong together (the crops of one image), and returns a
 * {@link org.gramian.linear.LinearModel}.
 *
 * <pre>{@code
 * LabelledRows rows = LabelledRows.of(descriptors, labels, images, 10);
 * LinearModel model = LinearSolver.parse("svm").solve(rows, SolverListener.NONE);
 * model.found();                                          // {C=10.0, folds=5.0, gap=5.1E-7, passes=40.0, ...}
 * model.crossValidation().orElseThrow().accuracy();       // out of fold, of groups
 * }</pre>
 *
 * <p>Scores are calibrated: a {@link org.gramian.linear.CrossValidation} over groups fits the softmax temperature, which
 * weight and bias are divided by.
 *
 * <p>Inside: {@code CentredRows} computes what is needed of rows around their mean or the means of their classes, block by
 * block. The SVM goes from {@code Features} (what descent reads) over {@code DualDescent} (one class against the rest) and
 * {@code OneAgainstRest} (all classes, in threads) to {@code CostSearch} (C by cross-validation over {@code GroupFolds}). LDA
 * goes from {@code PooledCovariance} over {@code Shrinkage} to its closed form. {@code MemoryBound} refuses what would not fit into
 * memory, before it is begun.
 *
 * <p>It knows nothing of images; {@code train} puts what is found into a model.
 */
@NullMarked
package org.gramian.linear;

import org.jspecify.annotations.NullMarked;
