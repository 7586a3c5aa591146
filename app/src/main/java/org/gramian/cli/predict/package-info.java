/** Commands that apply a model or backbone to images: {@code predict}, {@code evaluate}, {@code embed}, {@code nearest}, {@code explain}, {@code features}. */
@NullMarked
package org.gramian.cli.predict;

import org.jspecify.annotations.NullMarked;
