// SPDX-License-Identifier: Apache-2.0
/**
 * The command behind the {@code quickstart} script: one job on a real cluster under each kind of
 * shuffle, and a table that compares them.
 *
 * <p>Entry: {@link org.sparkrdma.quickstart.Quickstart}, on the main thread.
 */
package org.sparkrdma.quickstart;
