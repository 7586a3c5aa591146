package org.gramian.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.conditions.ArchConditions.be;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import java.io.IOException;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.gramian.tensor.Tensor;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** What the design says of packages and types, held by a test. */
class ArchitectureTest {
    private static final JavaClasses CORE = new ClassFileImporter()
            .withImportOption(location -> !location.contains("/test-classes/")) // whatever the build folder is
            .importPackages("org.gramian");

    /** Packages in the order of the data: each may use only those before it. */
    private static final List<String> LAYERS = List.of(
            "basis",
            "tensor",
            "cluster",
            "linear",
            "autodiff",
            "spd",
            "image",
            "backbone",
            "pooling",
            "accelerate",
            "model",
            "explain",
            "inspect",
            "gallery",
            "train",
            "evaluate",
            "anomaly",
            "run");

    /** The self-checks stand beside the layers, above these; only the command line uses them. */
    private static final Set<String> USED_BY_CHECK =
            Set.of("basis", "tensor", "autodiff", "spd", "backbone", "pooling", "accelerate");

    @Test
    void packagesDependOnlyOnThoseBeforeThem() {
        LayeredArchitecture rule = layeredArchitecture().consideringOnlyDependenciesInLayers();
        for (String layer : LAYERS) {
            rule = rule.optionalLayer(layer).definedBy("org.gramian." + layer + "..");
        }
        rule = rule.optionalLayer("check").definedBy("org.gramian.check..");
        for (int i = 0; i < LAYERS.size(); i++) {
            Set<String> users = new TreeSet<>(LAYERS.subList(i + 1, LAYERS.size()));
            if (USED_BY_CHECK.contains(LAYERS.get(i))) {
                users.add("check");
            }
            rule = users.isEmpty()
                    ? rule.whereLayer(LAYERS.get(i)).mayNotBeAccessedByAnyLayer()
                    : rule.whereLayer(LAYERS.get(i)).mayOnlyBeAccessedByLayers(users.toArray(String[]::new));
        }
        rule.whereLayer("check").mayNotBeAccessedByAnyLayer().check(CORE);
    }

    @Test
    void definitionsKnowNoFusedLayersAndNoGpu() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "org.gramian.autodiff..",
                        "org.gramian.spd..",
                        "org.gramian.pooling..",
                        "org.gramian.linear..",
                        "org.gramian.cluster..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.gramian.accelerate..", "org.gramian.tensor.cuda..")
                .check(CORE);
    }

    @Test
    void everyClassIsInPackageOfDesign() {
        String[] known = Stream.concat(
                        Stream.of("org.gramian"), // the entry points, above all layers
                        Stream.concat(LAYERS.stream(), Stream.of("check")).map(layer -> "org.gramian." + layer + ".."))
                .toArray(String[]::new);
        classes().should().resideInAnyPackage(known).check(CORE);
    }

    @Test
    void packagesHaveNoCycles() {
        slices().matching("org.gramian.(**)").should().beFreeOfCycles().check(CORE);
    }

    /** Nothing else would remove them: tests use folders of JUnit, the program the folder of its run or cache. */
    @Test
    void temporaryFoldersAreNotCreated() throws IOException, URISyntaxException {
        String name = "createTempDirectory"; // stands in every class file that calls it
        List<Path> callers = new ArrayList<>();
        for (Class<?> one : List.of(Tensor.class, ArchitectureTest.class)) {
            Path root = Path.of(
                    one.getProtectionDomain().getCodeSource().getLocation().toURI());
            try (Stream<Path> files = Files.walk(root.resolve("org/gramian"))) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    if (Files.readString(file, ISO_8859_1).contains(name)) {
                        callers.add(root.relativize(file));
                    }
                }
            }
        }
        assertThat(callers).containsExactly(Path.of("org/gramian/architecture/ArchitectureTest.class"));
    }

    /** libjpeg-turbo, which is optional, has its one class beside the decoders. */
    @Test
    void onlyTensorAndDecoderOfLibjpegTurboCallNativeCode() {
        noClasses()
                .that()
                .resideOutsideOfPackage("org.gramian.tensor..")
                .and()
                .haveNameNotMatching("org\\.gramian\\.image\\.TurboJpeg(\\$.*)?")
                .should()
                .dependOnClassesThat()
                .areAssignableTo(Linker.class)
                .orShould()
                .dependOnClassesThat()
                .areAssignableTo(SymbolLookup.class)
                .check(CORE);
    }

    @Test
    void libraryDoesNotPrint() {
        noClasses().should(ACCESS_STANDARD_STREAMS).check(CORE);
    }

    @Test
    void libraryDoesNotEndProcess() {
        noClasses()
                .should()
                .callMethod(System.class, "exit", int.class)
                .orShould()
                .callMethod(Runtime.class, "exit", int.class)
                .orShould()
                .callMethod(Runtime.class, "halt", int.class)
                .check(CORE);
    }

    @Test
    void namesSayWhatClassIs() {
        noClasses()
                .should()
                .haveSimpleNameEndingWith("Util")
                .orShould()
                .haveSimpleNameEndingWith("Utils")
                .orShould()
                .haveSimpleNameEndingWith("Helper")
                .orShould()
                .haveSimpleNameEndingWith("Manager")
                .orShould()
                .haveSimpleNameEndingWith("Impl")
                .check(CORE);
    }

    @Test
    void publicTypesAreRecordsEnumsInterfacesOrFinal() {
        classes()
                .that()
                .arePublic()
                .and()
                .areTopLevelClasses()
                .should(be(describe("records, enums, interfaces or final", ArchitectureTest::isClosed)))
                .check(CORE);
    }

    private static boolean isClosed(JavaClass type) {
        return type.isRecord()
                || type.isEnum()
                || type.isInterface()
                || type.getModifiers().contains(JavaModifier.FINAL);
    }

    @Test
    void everyPackageIsNullMarked() {
        Map<String, Boolean> marked = new TreeMap<>();
        for (JavaClass type : CORE) {
            marked.putIfAbsent(type.getPackageName(), false);
            if (type.getSimpleName().equals("package-info")) {
                marked.put(type.getPackageName(), type.isAnnotatedWith(NullMarked.class));
            }
        }
        assertThat(marked)
                .isNotEmpty()
                .allSatisfy((name, present) -> assertThat(present).as(name).isTrue());
    }

    /** Without this an empty import would let every rule pass. */
    @Test
    void rulesSeeLibrary() {
        assertThat(CORE.size()).isGreaterThan(100);
        assertThat(CORE.that(resideInAPackage("org.gramian.tensor.."))).hasSizeGreaterThan(20);
        assertThat(CORE.contain(ArchitectureTest.class)).isFalse();
    }
}
