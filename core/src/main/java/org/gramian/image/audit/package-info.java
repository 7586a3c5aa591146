/**
 * The audit: what in a folder of images would spoil training.
 *
 * <p>An {@link org.gramian.image.audit.Audit} goes over a dataset with several threads and makes an {@link
 * org.gramian.image.audit.AuditReport}, which is plain records all the way down, fit for JSON:
 *
 * <pre>{@code
 * Audit audit = new Audit(AuditOptions.DEFAULT, new ImageReader(ImageLimits.DEFAULT)::read, 4);
 * AuditReport report = audit.of(dataset, done -> {});
 * if (report.spoils()) {
 *     report.findings().forEach(finding -> log.warn(finding.sentence()));
 * }
 * }</pre>
 *
 * <p>From start to end: a decoded image becomes {@code ImageStatistics}, about a kilobyte with its {@code ImageSignature}. {@code DuplicateSearch}
 * puts equal and almost equal images into {@link org.gramian.image.audit.DuplicateGroup}s, with the help of {@code
 * NearHashes}, which compares few pairs out of many. {@code ClassFindings}, {@code DuplicateFindings} and {@code ImageFindings}
 * then say in {@link org.gramian.image.audit.Finding}s what it means, each with a {@link
 * org.gramian.image.audit.Severity}. All thresholds are in {@link org.gramian.image.audit.AuditOptions}.
 *
 * <p>Where images lie on many machines, {@link org.gramian.image.audit.ImageFacts} says what is odd about one of them; {@link
 * org.gramian.image.audit.ImageIssue} and {@link org.gramian.image.audit.ClassFindings} make findings of what was counted.
 */
@NullMarked
package org.gramian.image.audit;

import org.jspecify.annotations.NullMarked;
