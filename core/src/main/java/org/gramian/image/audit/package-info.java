/**
 * The audit of a dataset: problems that would harm training.
 *
 * <p>An {@link org.gramian.image.audit.Audit} checks a dataset with several threads and returns an {@link
 * org.gramian.image.audit.AuditReport}, which is written as JSON:
 *
 * <pre>{@code
 * Audit audit = new Audit(AuditOptions.DEFAULT, new ImageReader(ImageLimits.DEFAULT)::read, 4);
 * AuditReport report = audit.of(dataset, done -> {});
 * if (report.spoils()) {
 *     report.findings().forEach(finding -> log.warn(finding.sentence()));
 * }
 * }</pre>
 *
 * <p>A decoded image becomes {@link org.gramian.image.audit.ImageFacts}, about a kilobyte with its {@code ImageSignature}. {@code
 * Audit.DuplicateSearch} groups duplicates and near-duplicates; {@link org.gramian.image.audit.DatasetFindings} and {@link
 * org.gramian.image.audit.ImageIssue} make {@link org.gramian.image.audit.Finding}s of them. All thresholds are in {@link
 * org.gramian.image.audit.AuditOptions}.
 */
@NullMarked
package org.gramian.image.audit;

import org.jspecify.annotations.NullMarked;
