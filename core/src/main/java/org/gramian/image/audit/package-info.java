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
 * <p>A decoded image becomes {@code ImageStatistics}, about a kilobyte with its {@code ImageSignature}. {@code DuplicateSearch}
 * groups duplicates and near-duplicates into {@link org.gramian.image.audit.DuplicateGroup}s, using {@code NearHashes}. {@link
 * org.gramian.image.audit.ClassFindings}, {@code DuplicateFindings} and {@link org.gramian.image.audit.ImageIssue} make {@link
 * org.gramian.image.audit.Finding}s of them. All thresholds are in {@link org.gramian.image.audit.AuditOptions}. {@link
 * org.gramian.image.audit.ImageFacts} audits a single image, for audits on a cluster.
 */
@NullMarked
package org.gramian.image.audit;

import org.jspecify.annotations.NullMarked;
