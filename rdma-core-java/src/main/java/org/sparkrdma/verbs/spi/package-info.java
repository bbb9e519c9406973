// SPDX-License-Identifier: Apache-2.0
/**
 * The interface of an engine provider: {@link org.sparkrdma.verbs.spi.VerbsProvider}, listed in
 * {@code META-INF/services}, and the settings it understands.
 */
package org.sparkrdma.verbs.spi;
