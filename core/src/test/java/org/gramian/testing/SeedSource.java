package org.gramian.testing;

import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.AnnotationBasedArgumentsProvider;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.support.ParameterDeclarations;

/** Seeds for a {@link RandomTest}. */
final class SeedSource extends AnnotationBasedArgumentsProvider<RandomTest> {
    @Override
    protected Stream<? extends Arguments> provideArguments(
            ParameterDeclarations parameters, ExtensionContext context, RandomTest test) {
        long first = Long.getLong("gramian.seed", 0);
        return LongStream.range(first, first + test.times()).mapToObj(value -> Arguments.of(new Seed(value)));
    }
}
