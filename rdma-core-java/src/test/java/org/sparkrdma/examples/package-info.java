// SPDX-License-Identifier: Apache-2.0
/**
 * A program that shows how to use the verbs layer without Spark; docs/verbs.md explains it.
 *
 * <p>Entry class {@link org.sparkrdma.examples.ReadFile}. Each end is one thread.
 */
package org.sparkrdma.examples;
