// SPDX-License-Identifier: Apache-2.0
/**
 * Programs that show how to use the verbs layer without Spark; docs/verbs.md explains them.
 *
 * <p>Entry classes {@link org.sparkrdma.examples.PingPong}, {@link org.sparkrdma.examples.ReadFile}
 * and {@link org.sparkrdma.examples.WriteWithImmediate}. Each end is one thread.
 */
package org.sparkrdma.examples;
