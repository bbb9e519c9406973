// SPDX-License-Identifier: Apache-2.0
/**
 * What the {@code quickstart} script runs after the build: one sort on a real cluster under each
 * kind of shuffle, and a table that compares them.
 *
 * <p>Entry: {@link org.sparkrdma.quickstart.Quickstart}, on the main thread.
 */
package org.sparkrdma.quickstart;
