import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Prints the size and shape of the main sources as Markdown: files and lines per package, public and exported types, package-private types with
 * a single caller, simple names that occur twice, and words that STYLE.md replaces.
 *
 * <pre>
 * java scripts/CodeMetrics.java [LOG...]
 * </pre>
 *
 * <p>A LOG is the output of a command run with {@code GRAMIAN_JAVA_OPTS=-Xlog:class+load:file=LOG}: the number of Gramian's
 * top-level types that it loaded is printed too.
 */
final class CodeMetrics {
    private static final List<String> MODULES = List.of("core", "predict", "app", "spark", "benchmarks", "research");
    private static final List<String> WORDS = List.of(
            "picture",
            "image",
            "held back",
            "validation",
            "nobody",
            "somebody",
            "those who",
            "whoever",
            "asked",
            "told");
    private static final Pattern TOKEN = Pattern.compile("\"\"\"[\\s\\S]*?\"\"\"|\"(?:[^\"\\\\\n"
            + "]|\\\\.)*+\"|'(?:[^'\\\\\n"
            + "]|\\\\.)*+'|//[^\n"
            + "]*|/\\*[\\s\\S]*?\\*/|[A-Za-z_$][\\w$]*");
    private static final Pattern LOADED = Pattern.compile("\\b(org\\.gramian\\.[\\w.]+)(?:\\$[\\w$]*)? source:");

    private record Source(String packageName, String name, String text, Set<String> identifiers, String prose) {
        static Source of(Path file) throws IOException {
            String text = Files.readString(file);
            Matcher named = Pattern.compile("(?m)^package ([\\w.]+);").matcher(text);
            String packageName = named.find() ? named.group(1) : "";
            Set<String> identifiers = new TreeSet<>();
            StringBuilder prose = new StringBuilder();
            for (Matcher token = TOKEN.matcher(text); token.find(); ) {
                char first = token.group().charAt(0);
                if (Character.isJavaIdentifierStart(first)) {
                    identifiers.add(token.group());
                } else {
                    prose.append(token.group()).append('\n');
                }
            }
            String name = file.getFileName().toString().replace(".java", "");
            return new Source(packageName, name, text, identifiers, prose.toString());
        }

        boolean isType() {
            return !name.equals("package-info") && !name.equals("module-info");
        }

        boolean isPublic() {
            return Pattern.compile("(?m)^public .*\\b(class|record|enum|interface) " + name + "\\b")
                    .matcher(text)
                    .find();
        }

        long lines() {
            return text.lines().count();
        }
    }

    public static void main(String[] logs) throws IOException {
        List<Source> sources = new ArrayList<>();
        for (String module : MODULES) {
            try (Stream<Path> files = Files.walk(Path.of(module, "src/main/java"))) {
                for (Path file : files.filter(each -> each.toString().endsWith(".java"))
                        .sorted()
                        .toList()) {
                    sources.add(Source.of(file));
                }
            }
        }
        printPackages(sources);
        printTypes(sources);
        printWords(sources);
        for (String log : logs) {
            printLoaded(log);
        }
    }

    private static void printPackages(List<Source> sources) {
        Map<String, List<Source>> packages =
                sources.stream().collect(Collectors.groupingBy(Source::packageName, TreeMap::new, Collectors.toList()));
        System.out.println("| package | files | lines |\n|---|---:|---:|");
        packages.forEach((name, files) -> System.out.printf("| %s | %d | %d |%n", name, files.size(), lines(files)));
        System.out.printf("| all | %d | %d |%n", sources.size(), lines(sources));
    }

    private static long lines(List<Source> sources) {
        return sources.stream().mapToLong(Source::lines).sum();
    }

    private static void printTypes(List<Source> sources) {
        List<Source> types = sources.stream().filter(Source::isType).toList();
        List<String> single = types.stream()
                .filter(type -> !type.isPublic())
                .filter(type -> types.stream()
                                .filter(other ->
                                        other != type && other.packageName().equals(type.packageName()))
                                .filter(other -> other.identifiers().contains(type.name()))
                                .count()
                        == 1)
                .map(type -> type.packageName().replace("org.gramian.", "") + "." + type.name())
                .sorted()
                .toList();
        Map<String, Long> names =
                types.stream().collect(Collectors.groupingBy(Source::name, TreeMap::new, Collectors.counting()));
        List<String> repeated = names.entrySet().stream()
                .filter(entry -> entry.getValue() > 1)
                .map(Map.Entry::getKey)
                .toList();
        List<Long> sizes = types.stream().map(Source::lines).sorted().toList();
        Map<String, Object> rows = new LinkedHashMap<>();
        rows.put("top-level types", types.size());
        rows.put("median lines of a file", sizes.get(sizes.size() / 2));
        rows.put("public types", types.stream().filter(Source::isPublic).count());
        rows.put("exported types", exported(sources));
        rows.put("package-private types with a single caller", single.size());
        rows.put("simple names that occur more than once", repeated.size());
        System.out.println("\n| types | |\n|---|---:|");
        rows.forEach((name, value) -> System.out.printf("| %s | %s |%n", name, value));
        System.out.println("\nsingle caller: " + String.join(", ", single));
        System.out.println("\nmore than once: " + String.join(", ", repeated));
    }

    /** Returns the number of public types in the packages that module-info exports. */
    private static long exported(List<Source> sources) {
        Set<String> packages = sources.stream()
                .filter(source -> source.name().equals("module-info"))
                .flatMap(source -> Pattern.compile("(?m)^ *exports ([\\w.]+);")
                        .matcher(source.text())
                        .results())
                .map(match -> match.group(1))
                .collect(Collectors.toSet());
        return sources.stream()
                .filter(source -> packages.contains(source.packageName()) && source.isPublic())
                .count();
    }

    private static void printWords(List<Source> sources) {
        System.out.println("\n| word | in comments and strings | in identifiers |\n|---|---:|---:|");
        for (String word : WORDS) {
            Pattern whole = Pattern.compile("\\b" + word + "(s|d)?\\b", Pattern.CASE_INSENSITIVE);
            long prose = sources.stream()
                    .mapToLong(source -> whole.matcher(source.prose()).results().count())
                    .sum();
            String part = word.replace(" ", "").toLowerCase();
            long identifiers = sources.stream()
                    .flatMap(source -> source.identifiers().stream())
                    .filter(identifier -> identifier.toLowerCase().contains(part))
                    .count();
            System.out.printf("| %s | %d | %d |%n", word, prose, identifiers);
        }
    }

    private static void printLoaded(String log) throws IOException {
        Set<String> loaded = new TreeSet<>();
        for (Matcher line = LOADED.matcher(Files.readString(Path.of(log))); line.find(); ) {
            loaded.add(line.group(1));
        }
        long packages = loaded.stream()
                .map(name -> name.replaceAll("\\.[^.]*$", ""))
                .distinct()
                .count();
        System.out.printf("%n%s: %d types in %d packages%n", log, loaded.size(), packages);
    }
}
