/** Commands on a trained model or run: {@code show}, {@code report}, {@code export}, {@code serve}. */
@NullMarked
package org.gramian.cli.model;

import org.jspecify.annotations.NullMarked;
