package org.gramian.pooling;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.gramian.basis.NamedArguments;
import org.gramian.basis.NearestWord;
import org.gramian.pooling.Methods.Method;
import org.gramian.pooling.Pooling.PoolingSyntaxException;
import org.gramian.spd.Kernel;
import org.gramian.spd.KernelSum;
import org.jspecify.annotations.Nullable;

/** Parser of the text form of a {@link Pooling}. */
final class PoolingParser {
    private static final int LONGEST = 1000;

    /** Entry of kernel sums in the help. */
    static final PoolingStage.Syntax SUM = new PoolingStage.Syntax(
            "(", "([<weight>*]A[*B]+...)", "K = weighted sum of element-wise products of kernels");

    private final String text;
    private final Fidelity fidelity;
    private final int depth;
    private final List<Reduction> reductions = new ArrayList<>();
    private final List<Transform> transforms = new ArrayList<>();
    private final List<Normalization> normalizations = new ArrayList<>();
    private @Nullable Kernel kernel;
    private @Nullable Aggregation aggregation;

    private PoolingParser(String text, Fidelity fidelity, int depth) {
        this.text = text;
        this.fidelity = fidelity;
        this.depth = depth;
    }

    static Pooling parse(String given, Fidelity fidelity) {
        String text = given.strip().toLowerCase(Locale.ROOT);
        if (text.length() > LONGEST) {
            throw new PoolingSyntaxException(
                    "expected a pooling of at most " + LONGEST + " characters, found " + text.length());
        }
        if (text.isEmpty()) {
            throw new PoolingSyntaxException(
                    "expected a pooling, e.g. conv:512/rbf/spd:128/relu/triu/root/l2, or one of the methods "
                            + String.join(", ", Methods.names()) + "; found nothing");
        }
        return parse(text, fidelity, 0);
    }

    private static Pooling parse(String text, Fidelity fidelity, int depth) {
        PoolingParser parser =
                new PoolingParser(Methods.find(text).map(Method::pooling).orElse(text), fidelity, depth);
        for (String part : stages(parser.text)) {
            parser.add(part.strip());
        }
        return parser.finish();
    }

    private void join(String part) {
        if (!isJoin(part)) {
            throw new PoolingSyntaxException("'" + part + "' in '" + text
                    + "' is not a join: put brackets around all of it," + " as in [bilinear/triu/l2+average]/l2");
        }
        if (depth == Join.DEEPEST) {
            throw new PoolingSyntaxException(
                    "expected joins nested at most " + Join.DEEPEST + " deep, found deeper nesting: '" + part + "'");
        }
        List<String> branches = branches(part);
        if (branches.size() < 2 || branches.stream().anyMatch(String::isBlank)) {
            throw new PoolingSyntaxException(
                    "'" + part + "': expected at least two poolings between the brackets, with '+'"
                            + " between them, as in [bilinear/triu/l2+average]; write numbers without '+', e.g. 1e5");
        }
        place(
                part,
                new Join(branches.stream()
                        .map(branch -> parse(branch.strip(), fidelity, depth + 1))
                        .toList()));
    }

    private void add(String part) {
        if (part.contains("[")) {
            join(part);
        } else if (isKernelSum(part)) {
            place(part, kernelSum(part));
        } else {
            Object made = make(part);
            place(word(part), made instanceof StageRegistry.PcaStage pca ? pca.at(aggregation != null) : made);
        }
    }

    /** Parses a sum of products of kernels, such as {@code (rbf+0.5*bilinear*laplacian:sigma=3)}. */
    private KernelSum kernelSum(String part) {
        List<KernelSum.Term> terms = new ArrayList<>();
        try {
            for (List<String> product : products(part)) {
                double weight = 1;
                List<Kernel> factors = new ArrayList<>();
                for (String text : product) {
                    if (factors.isEmpty() && NamedArguments.isNumber(text)) {
                        weight *= Double.parseDouble(text);
                    } else if (make(text) instanceof Kernel k) {
                        factors.add(k);
                    } else {
                        throw new PoolingSyntaxException("'" + text + "' in '" + part
                                + "' is not a kernel: write a sum of products of kernels as " + SUM.form());
                    }
                }
                terms.add(new KernelSum.Term(weight, factors));
            }
            return new KernelSum(terms);
        } catch (PoolingSyntaxException syntax) {
            throw syntax;
        } catch (IllegalArgumentException invalid) {
            throw new PoolingSyntaxException(part + ": " + invalid.getMessage());
        }
    }

    private static String word(String part) {
        int colon = part.indexOf(':');
        return colon < 0 ? part : part.substring(0, colon);
    }

    /** Creates the stage or kernel of a word with arguments. */
    private Object make(String part) {
        int colon = part.indexOf(':');
        String name = word(part);
        StageRegistry.SyntaxRule rule = StageRegistry.rule(name).orElseThrow(() -> unknown(name));
        String text = colon < 0 ? "" : part.substring(colon + 1);
        try {
            NamedArguments arguments =
                    new NamedArguments(name, rule.syntax().form(), text, 1, fidelity.arguments(name));
            Object made = rule.factory().apply(arguments);
            arguments.requireAllUsed();
            return made;
        } catch (PoolingSyntaxException syntax) {
            throw syntax;
        } catch (NamedArguments.InvalidException invalid) {
            throw new PoolingSyntaxException(String.valueOf(invalid.getMessage()));
        } catch (IllegalArgumentException invalid) {
            throw new PoolingSyntaxException(part + ": " + invalid.getMessage());
        }
    }

    private void place(String name, Object made) {
        switch (made) {
            case Reduction reduction when kernel == null && aggregation == null -> reductions.add(reduction);
            case Kernel k when kernel == null && aggregation == null -> kernel = k;
            case Aggregation whole when kernel == null && aggregation == null -> aggregation = whole;
            case Transform transform when kernel != null && aggregation == null -> transforms.add(transform);
            case Vectorization vectorization
            when kernel != null && aggregation == null ->
                aggregation = new SecondOrder(kernel, transforms, vectorization);
            case Normalization normalization when aggregation != null -> normalizations.add(normalization);
            default -> throw misplaced(name, made);
        }
    }

    private PoolingSyntaxException misplaced(String name, Object made) {
        String found = aggregation != null ? "a vector" : kernel != null ? "a matrix" : "feature maps";
        String needed = switch (made) {
            case Reduction r -> "feature maps";
            case Kernel k -> "feature maps";
            case Aggregation a -> "feature maps";
            case Normalization n -> "a vector (after triu, flat or average)";
            default -> "a matrix (after a kernel, e.g. rbf)";
        };
        String hint = name.equals("relu") && kernel == null ? "; conv has its ReLU built in" : "";
        return new PoolingSyntaxException(
                "'" + name + "' in '" + text + "' needs " + needed + " before it, found " + found + hint);
    }

    private PoolingSyntaxException unknown(String name) {
        boolean alone = name.equals(text); // a method, perhaps
        List<String> words = new ArrayList<>(StageRegistry.names());
        if (alone) {
            words.addAll(Methods.names());
        }
        String near = NearestWord.suggestion(name, words);
        String all = "; the stages are " + StageRegistry.names() + ", and joins as " + Join.SYNTAX.form()
                + (alone ? "; the methods are " + String.join(", ", Methods.names()) : "");
        String listing = alone ? "; all methods: 'gramian methods'" : "; all stages: 'gramian doctor --help'";
        return new PoolingSyntaxException(
                "unknown stage '" + name + "' in '" + text + "'" + near + (near.isEmpty() ? all : listing));
    }

    private Pooling finish() {
        if (aggregation == null) {
            throw new PoolingSyntaxException(
                    kernel == null
                            ? "'" + text + "' has no kernel (rbf, covariance, bilinear, ...) and no average: nothing"
                                    + " aggregates the positions"
                            : "'" + text + "' ends with a matrix: add triu (or flat) to make it a vector");
        }
        return new Pooling(reductions, aggregation, normalizations);
    }

    /** Splits a pooling into its stages. */
    static List<String> stages(String pooling) {
        return split(pooling, '/');
    }

    /** Returns whether a stage is a {@link Join}, {@code [A+B]}. */
    static boolean isJoin(String stage) {
        return stage.startsWith("[") && stage.endsWith("]");
    }

    /** Splits a {@link Join} into its branches. */
    static List<String> branches(String join) {
        return split(join.substring(1, join.length() - 1), '+');
    }

    /** Returns whether a stage is a {@link KernelSum}, {@code (A+B*C)}. */
    static boolean isKernelSum(String stage) {
        return stage.startsWith("(") && stage.endsWith(")");
    }

    /** Splits a {@link KernelSum} into the factors of its terms: kernels, after a weight if there is one. */
    static List<List<String>> products(String sum) {
        return split(sum.substring(1, sum.length() - 1), '+').stream()
                .map(product -> split(product, '*').stream().map(String::strip).toList())
                .toList();
    }

    /**
     * Splits a text at separators outside of brackets.
     *
     * @throws PoolingSyntaxException if brackets are unmatched
     */
    private static List<String> split(String text, char separator) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int start = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
            if (depth < 0) {
                throw new PoolingSyntaxException("the bracket '" + c + "' at position " + (i + 1) + " of '" + text
                        + "' is unmatched: write '" + (c == ']' ? '[' : '(') + "' before it");
            }
            if (depth == 0 && c == separator) {
                parts.add(text.substring(start, i));
                start = i + 1;
            }
        }
        if (depth > 0) {
            throw new PoolingSyntaxException("'" + text + "' has " + depth + " more '[' or '(' than ']' or ')': close"
                    + " them as in [bilinear/triu/l2+average]/l2");
        }
        parts.add(text.substring(start));
        return parts;
    }
}
