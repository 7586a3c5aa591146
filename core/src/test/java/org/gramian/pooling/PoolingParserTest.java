package org.gramian.pooling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.gramian.pooling.Pooling.PoolingSyntaxException;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PoolingParserTest {
    private static PoolingSyntaxException refused(String text) {
        PoolingSyntaxException[] said = new PoolingSyntaxException[1];
        assertThatThrownBy(() -> Pooling.parse(text))
                .as(text)
                .isInstanceOfSatisfying(PoolingSyntaxException.class, e -> said[0] = e);
        return said[0];
    }

    @RandomTest(times = 300)
    void anyPoolingIsReadBackFromItsText(Seed seed) {
        String text = randomPooling(seed.random());
        Pooling pooling = Pooling.parse(text);
        assertThat(Pooling.parse(pooling.text())).as(text).isEqualTo(pooling);
        assertThat(Pooling.parse(pooling.text()).text()).as(text).isEqualTo(pooling.text());
        String spaced = "  " + text.toUpperCase(Locale.ROOT).replace("/", " / ").replace(",", " , ") + "\n";
        assertThat(Pooling.parse(spaced)).as(spaced).isEqualTo(pooling);
    }

    static String randomPooling(SplittableRandom random) {
        List<String> stages = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            stages.add(pick(random, "pca:", "conv:") + count(random));
        }
        for (int i = random.nextInt(2); i > 0; i--) {
            stages.add("conv:" + count(random) + ",bias=" + pick(random, "0", "-.5", "-3E-12", number(random)));
        }
        if (random.nextInt(6) == 0) {
            stages.add("average");
        } else {
            stages.add(kernel(random));
            for (int i = random.nextInt(4); i > 0; i--) {
                stages.add(transform(random));
            }
            stages.add(pick(random, "flat", "triu", "triu:gradient=exact", "triu:gradient=printed"));
        }
        for (int i = random.nextInt(3); i > 0; i--) {
            stages.add(pick(
                    random,
                    "l2",
                    "root",
                    "root:eps=" + number(random),
                    "root:" + number(random) + ",gradient=exact",
                    "root:gradient=authors",
                    "root:gradient=authors,eps=" + number(random)));
        }
        return String.join("/", stages);
    }

    private static String kernel(SplittableRandom random) {
        String jitter = random.nextBoolean() ? "" : "jitter=" + number(random);
        String more = jitter.isEmpty() ? "" : "," + jitter;
        return switch (random.nextInt(6)) {
            case 5 -> "(bilinear+" + (1 + random.nextInt(9)) + "*rbf:sigma=mean*covariance)";
            case 0 ->
                "rbf:sigma=" + pick(random, "mean", "mean-full", "estimate", "learned", number(random)) + more
                        + pick(random, "", ",gradient=exact", ",gradient=printed");
            case 1 -> "laplacian:" + pick(random, "", "sigma=") + number(random) + more;
            case 2 ->
                "polynomial:degree=" + (1 + random.nextInt(5)) + ",scale=" + number(random) + ",offset="
                        + number(random) + more;
            case 3 -> jitter.isEmpty() ? "covariance" : "covariance:" + jitter;
            default -> jitter.isEmpty() ? "bilinear" : "bilinear:" + jitter;
        };
    }

    private static String transform(SplittableRandom random) {
        return switch (random.nextInt(7)) {
            case 0 -> "spd:" + count(random) + pick(random, "", ",init=orthonormal", ",init=xavier");
            case 1 -> "relu";
            case 2 -> "reeig:" + number(random);
            case 3 -> pick(random, "log", "log:floor=" + number(random));
            case 4 -> pick(random, "sqrt", "sqrt:" + number(random));
            case 5 -> "power:" + random.nextDouble(0.01, 1) + pick(random, "", ",floor=" + number(random));
            default -> pick(random, "isqrt", "isqrt:" + (1 + random.nextInt(9)));
        };
    }

    private static int count(SplittableRandom random) {
        return 1 + random.nextInt(999_999);
    }

    /** A positive number of any size, written in one of several ways. */
    private static String number(SplittableRandom random) {
        double value = Math.pow(10, random.nextDouble(-5, 12)); // below 1e-6 no width is accepted
        return switch (random.nextInt(5)) {
            case 0 -> Double.toString(value);
            case 1 -> String.format(Locale.ROOT, "%.3e", value);
            case 2 -> Integer.toString(1 + random.nextInt(100_000_000));
            case 3 -> "." + (1 + random.nextInt(1000));
            default -> "+" + Math.round(value + 1) + ".";
        };
    }

    private static String pick(SplittableRandom random, String... choices) {
        return choices[random.nextInt(choices.length)];
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "root:eps=-0",
                "root:eps=1e-320",
                "root:eps=1.7976931348623157e308",
                "root:eps=10000000",
                "root:eps=9999999",
                "root:eps=123456789.5"
            })
    void numbersAtEdgesAreReadBack(String root) {
        Pooling pooling = Pooling.parse("average/" + root);
        assertThat(Pooling.parse(pooling.text())).isEqualTo(pooling);
    }

    @Test
    void argumentsAtTheirDefaultAreLeftOut() {
        assertThat(Pooling.parse("conv:channels=512/rbf:sigma=mean,jitter=1e-4/spd:size=8/isqrt/triu/root:eps=1e-5")
                        .text())
                .isEqualTo("conv:512/rbf/spd:8/isqrt:5/triu/root");
        assertThat(Pooling.parse("bilinear:jitter=0/power:0.5,floor=1e-6/flat").text())
                .isEqualTo("bilinear/sqrt/flat");
        assertThat(Pooling.parse("rbf:50/flat")).isEqualTo(Pooling.parse("rbf:sigma=50/flat"));
    }

    @Test
    void sumsOfProductsOfKernelsAreReadBack() {
        assertThat(Pooling.parse(" ( RBF + 0.50 * bilinear*laplacian:sigma=3 ) / triu")
                        .text())
                .isEqualTo("(rbf+0.5*bilinear*laplacian:sigma=3)/triu");
        assertThat(refused("(rbf+triu)/triu")).hasMessageContaining("'triu'").hasMessageContaining("is not a kernel");
        assertThat(refused("(rbf+)/triu")).hasMessageContaining("unknown stage ''");
        assertThat(refused("(rbff+bilinear)/triu")).hasMessageContaining("rbf");
        assertThat(refused("(0.5+bilinear)/triu")).hasMessageContaining("product of kernels");
        assertThat(refused("(-1*bilinear)/triu")).hasMessageContaining("-1");
        assertThat(refused("(gaussian+bilinear)/triu")).hasMessageContaining("same size");
        assertThat(refused("(rbf+bilinear/triu")).hasMessageContaining("'('");
        assertThat(refused("rbf)/triu")).hasMessageContaining("')'");
        assertThat(refused("((rbf+bilinear)*rbf)/triu")).isNotNull();
    }

    @Test
    void methodsAreReadByName() {
        assertThat(Methods.all())
                .allSatisfy(
                        method -> assertThat(Pooling.parse(method.name())).isEqualTo(Pooling.parse(method.pooling())));
        assertThat(Methods.names()).contains("default", "paper", "paper-kernel", "bcnn", "isqrt");
        assertThat(Pooling.parse("paper").text()).isEqualTo("conv:512/rbf/spd:512/relu/triu/root/l2");
        assertThat(Pooling.parse("bcnn").text()).isEqualTo("bilinear/triu/root/l2");
    }

    @ParameterizedTest
    @CsvSource({
        "rbff/triu, rbff, rbf",
        "averge, averge, average",
        "papr, papr, paper",
        "rbf:sigma=meen/triu, meen, mean",
        "rbf:sigm=3/triu, sigm, sigma",
        "rbf:gradient=prnted/triu, prnted, printed",
        "'rbf/spd:3,init=xavir/triu', xavir, xavier",
    })
    void typoGetsNearestWord(String text, String typed, String meant) {
        assertThat(refused(text)).hasMessageContaining("'" + typed).has(facts(meant));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "conv/rbf/triu                    | 'channels' conv:<channels>",
                "conv:/rbf/triu                   | 'channels' conv:<channels>",
                "rbf/spd/triu                     | 'size' spd:<size>",
                "laplacian/triu                   | 'sigma' laplacian:sigma=<number>",
                "polynomial/triu                  | 'degree' polynomial:degree",
                "rbf/reeig/triu                   | 'smallest' reeig:<smallest>",
                "rbf/power/triu                   | 'exponent' power:<exponent>",
                "rbf/triu:5                       | '5' triu",
                "rbf/triu/l2:eps=1                | 'eps' l2",
                "conv:5,6/rbf/triu                | '6' name=value conv:<channels>",
                "conv:5,channels=6/rbf/triu       | '5' conv:<channels>",
                "rbf:jitter=1,jitter=1/triu       | 'jitter' rbf",
                "rbf:sigma=3,,jitter=1/triu       | '' name=value rbf",
                "conv:five/rbf/triu               | 'channels' 'five'",
                "conv:1.5/rbf/triu                | 'channels' '1.5'",
                "conv:0/rbf/triu                  | 1 999999 '0'",
                "conv:-3/rbf/triu                 | 1 999999 '-3'",
                "conv:1000000/rbf/triu            | 1 999999 '1000000'",
                "rbf/spd:0/triu                   | 1 999999 '0'",
                "rbf:sigma=0/triu                 | sigma 0",
                "rbf:sigma=-1/triu                | sigma -1",
                "rbf:sigma=1e999/triu             | sigma 1e999",
                "rbf:sigma=3x/triu                | 'sigma' '3x'",
                "rbf:jitter=-1/triu               | jitter -1",
                "rbf:jitter=nan/triu              | 'jitter' 'nan'",
                "laplacian:sigma=0/triu           | sigma 0",
                "polynomial:degree=2,scale=0,offset=1/triu          | scale 0 0",
                "polynomial:degree=2,scale=1e999,offset=1/triu      | scale 1e999",
                "polynomial:degree=2,scale=1,offset=1e999/triu     | offset 1e999",
                "polynomial:degree=2,scale=1,offset=-1/triu        | offset 0 -1",
                "rbf/reeig:0/triu                 | positive 0",
                "rbf/log:floor=-1/triu            | positive -1",
                "rbf/power:0/triu                 | 0 1 0",
                "rbf/power:1.5/triu               | 0 1 1.5",
                "rbf/triu:printed                 | 'printed' triu",
                "conv:5,bias=x/rbf/triu           | 'bias' 'x'",
                "rbf/spd:5,init=/triu             | init orthonormal xavier ''",
                "rbf/triu/root:eps=-1             | eps -1",
                "triu                | 'triu' matrix map",
                "rbf/triu/relu       | 'relu' matrix vector",
                "relu/rbf/triu       | 'relu' matrix conv",
                "rbf/triu/triu       | 'triu' matrix vector",
                "rbf/conv:5/triu     | 'conv' map matrix",
                "rbf/pca:5/triu      | 'pca' map matrix",
                "rbf/bilinear/triu   | 'bilinear' map matrix",
                "rbf/average         | 'average' map matrix",
                "average/average     | 'average' map vector",
                "rbf/l2/triu         | 'l2' vector matrix",
                "root/rbf/triu       | 'root' vector map",
                "average/spd:3       | 'spd' matrix vector",
                "rbf/relu            | 'rbf/relu' matrix triu flat",
                "conv:5              | 'conv:5' kernel average",
                "gem:0                | 0 0",
                "gem:p=2,learn=maybe  | true false maybe",
                "sum:prior=centre     | centre center",
                "pyramid              | 'levels'",
                "pyramid:12           | 1 11 12",
                "pyramid:2,of=median  | mean max median",
                "max:3                | '3'",
                "weighted:2           | '2'",
                "[average+bilinear/triu    | 1 '[' ']'",
                "[average+[average+average]| 1 '[' ']'",
                "average+average]          | ']' 16",
                "[average]                 | '[average]'",
                "[]                        | '[]'",
                "[average+]                | '[average+]'",
                "[average+average]l2       | '[average+average]l2'",
                "x[average+average]        | 'x[average+average]'",
                "average+average           | 'average+average' bilinear",
                "[average+max9]            | 'max9'",
                "[average+conv:3]          | 'conv:3' kernel",
                "average/[average+average] | map vector",
                "[average+[average+[average+average]]] | 2 '[average+average]'",
                "tail:network=googlenet                | network layer",
                "tail:layer=fire9                      | network layer",
                "tail:network=googlenett,layer=pool5   | googlenett googlenet",
                "tail:network=googlenet,layer=pool5    | googlenet pool5",
                "tail:network=filters,layer=bank       | filters bank",
                "tail:depth=3                          | depth tail[:network=<name>,layer=<name>[,grid=<name>]]",
                "layer/average | layer",
                "layer:b,from=3/average | from= to=",
                "layer:b,from=3,to=3/average | 3",
                "conv:atmost=0/average | 'atmost'",
                "conv/average | 'channels'",
                "average/l2/scale:0 | 0 0",
                "average/l2/scale:-3 | 0 -3",
                "scale/average | vector",
                "fisher | components",
                "fisher:4,weights=yes | 'weights' true false 'yes'",
                "netvlad:0 | 1 '0'"
            })
    void errorsNameWhatIsWrongAndWhatIsWanted(String text, String values) {
        assertThat(refused(text)).has(facts((Object[]) values.split(" ")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "   ", "\n"})
    void emptyTextGetsExampleAndMethods(String text) {
        assertThat(refused(text))
                .hasMessageContaining(Methods.find("default").orElseThrow().pooling())
                .hasMessageContaining("bcnn");
    }

    @Test
    void textThatIsTooLongIsRefusedWithoutRepeatingIt() {
        PoolingSyntaxException said = refused("conv:5/".repeat(1000));
        assertThat(said).has(facts("1000")).hasMessageContaining("7000");
        assertThat(said.getMessage()).hasSizeLessThan(200);
        assertThat(Pooling.parse("relu/".repeat(150).replaceFirst("relu", "rbf") + "triu")
                        .aggregation())
                .isInstanceOf(SecondOrder.class);
    }
}
