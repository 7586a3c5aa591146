package org.gramian.report.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.gramian.basis.RegularFile;
import org.gramian.evaluate.compare.EvaluationFile;
import org.gramian.gallery.Gallery;
import org.gramian.image.audit.AuditReport;
import org.gramian.inspect.SpdInspection;
import org.gramian.model.ModelFile;
import org.gramian.report.run.RunData.ModelData;
import org.gramian.report.run.RunData.ReportPart;
import org.gramian.run.ExistingRun;
import org.gramian.train.loop.HeadSearch;
import org.gramian.train.loop.History;
import org.gramian.train.loop.StageResult;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Reads a run folder or an evaluation file; the page shows the reason in place of a missing or damaged file. */
public final class RunReader {
    private static final String HISTORY = "history.csv";
    private static final String AFTER_FIRST = "stage1.json";

    private static final String ALONE = "this report covers an evaluation file without its run folder";

    /** Far larger than any configuration. */
    private static final long MAX_CONFIG_BYTES = 1L << 20;

    /** Far larger than the audit of a million images. */
    private static final long MAX_AUDIT_BYTES = 1L << 28;

    private static final Pattern CONFIG_SECTION = Pattern.compile("([\\w-]+):\\s*");
    private static final Pattern CONFIG_VALUE =
            Pattern.compile("( *)([\\w-]+): +(\"(?:[^\"\\\\]|\\\\.)*+\"|[^\\s#]\\S*)(?:\\s+#\\s?(.*))?");

    private static final JsonMapper AUDIT = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            .build();

    private final Path run;
    private final Map<ReportPart, Set<String>> missing = new EnumMap<>(ReportPart.class);

    private RunReader(Path run) {
        this.run = run;
    }

    public static RunData read(Path run) throws IOException {
        return new RunReader(run).data();
    }

    private RunData data() throws IOException {
        List<RunData.FoldData> folds = new ArrayList<>();
        for (Path folder : folders()) {
            if (!Files.isDirectory(folder) || Files.exists(folder.resolve(EvaluationFile.FILE))) {
                folds.add(fold(folder));
            } else {
                lacks(ReportPart.FOLD, folder.getFileName() + " has no evaluation: the fold is not finished");
            }
        }
        if (folds.isEmpty()) {
            EvaluationFile.readAll(run); // throws with the reason
        }
        return new RunData(
                String.valueOf(run.toAbsolutePath().normalize().getFileName()),
                folds,
                ImageSheet.Thumbnails.of(
                        folds.stream().flatMap(fold -> fold.gallery().stream()).toList()),
                part(ReportPart.CONFIGURATION, run.resolve(ExistingRun.CONFIG), RunReader::configuration)
                        .orElse(List.of()),
                part(ReportPart.AUDIT, run.resolve(AuditReport.FILE_NAME), RunReader::audit),
                missing);
    }

    /** Returns the fold folders by number; a run of one fold, or a file, is its own folder. */
    private List<Path> folders() throws IOException {
        List<Path> folds = Files.isDirectory(run) ? EvaluationFile.folds(run) : List.of();
        return folds.isEmpty() ? List.of(run) : folds;
    }

    private RunData.FoldData fold(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            for (ReportPart part : List.of(ReportPart.CURVES, ReportPart.IMAGES, ReportPart.MODEL, ReportPart.SPD)) {
                lacks(part, ALONE);
            }
            return RunData.FoldData.of(EvaluationFile.read(folder), Optional.empty());
        }
        Path first = folder.resolve(AFTER_FIRST);
        Path poolings = folder.resolve(HeadSearch.FILE);
        Path model = folder.resolve(ModelFile.NAME);
        return new RunData.FoldData(
                EvaluationFile.read(folder.resolve(EvaluationFile.FILE)),
                Files.exists(first) ? Optional.of(EvaluationFile.read(first)) : Optional.empty(),
                part(
                                ReportPart.CURVES,
                                folder.resolve(HISTORY),
                                file -> History.open(file).epochs())
                        .orElse(List.of()),
                stages(folder),
                part(ReportPart.IMAGES, folder.resolve(Gallery.FILE), _ -> Gallery.beside(model))
                        .flatMap(found -> found),
                part(ReportPart.MODEL, model, file -> new ModelData(file, Files.size(file), ModelFile.header(file))),
                part(ReportPart.SPD, folder.resolve(SpdInspection.FILE), SpdInspection::read),
                Files.exists(poolings) ? HeadSearch.Result.read(poolings).entries() : List.of());
    }

    /** Returns the results of the stages; none if the classifier was solved. */
    private List<StageResult> stages(Path folder) {
        try {
            return StageResult.read(folder);
        } catch (IOException damaged) {
            lacks(ReportPart.CURVES, String.valueOf(damaged.getMessage()));
            return List.of();
        }
    }

    /** Reads keys, values and the comments with their origins; ignores lines without a value. */
    private static List<RunData.ConfigRow> configuration(Path file) throws IOException {
        requireSize(file, MAX_CONFIG_BYTES, "a configuration");
        List<RunData.ConfigRow> rows = new ArrayList<>();
        String section = "";
        for (String line : RegularFile.lines(file)) {
            if (line.strip().equals("chosen:")) {
                break; // the origins contain the same
            }
            Matcher value = CONFIG_VALUE.matcher(line);
            Matcher begins = CONFIG_SECTION.matcher(line);
            if (begins.matches()) {
                section = begins.group(1) + ".";
            } else if (value.matches()) {
                String prefix = value.group(1).isEmpty() ? "" : section;
                String origin = value.group(4) == null ? "" : value.group(4);
                rows.add(new RunData.ConfigRow(prefix + value.group(2), value.group(3), origin));
            }
        }
        return rows;
    }

    private static RunData.AuditSummary audit(Path file) throws IOException {
        requireSize(file, MAX_AUDIT_BYTES, "an audit");
        try {
            return AUDIT.readValue(RegularFile.bytes(file), RunData.AuditSummary.class);
        } catch (JacksonException damaged) {
            throw new IOException(
                    file + ": expected an audit with images and findings in JSON, found something else", damaged);
        }
    }

    private static void requireSize(Path file, long most, String what) throws IOException {
        if (Files.size(file) > most) {
            throw new IOException(
                    file + ": expected " + what + " of at most " + most + " bytes, found " + Files.size(file));
        }
    }

    private interface Reading<T> {
        T read(Path file) throws IOException;
    }

    private <T> Optional<T> part(ReportPart part, Path file, Reading<T> reading) {
        if (!Files.isDirectory(run)) {
            lacks(part, ALONE);
        } else if (!Files.isRegularFile(file)) {
            lacks(
                    part,
                    holder(file) + " has no " + file.getFileName()
                            + (part == ReportPart.CURVES ? "; a classifier fitted by a solver has no epochs" : ""));
        } else {
            try {
                return Optional.of(reading.read(file));
            } catch (IOException | RuntimeException damaged) {
                lacks(part, String.valueOf(damaged.getMessage()));
            }
        }
        return Optional.empty();
    }

    private String holder(Path file) {
        Path folder = file.toAbsolutePath().normalize().getParent();
        boolean own = folder != null && folder.equals(run.toAbsolutePath().normalize());
        return own || folder == null ? "the run folder" : String.valueOf(folder.getFileName());
    }

    private void lacks(ReportPart part, String reason) {
        missing.computeIfAbsent(part, _ -> new LinkedHashSet<>()).add(reason);
    }
}
