// SPDX-License-Identifier: Apache-2.0
/**
 * Benchmarks of the ibverbs engine; in its package, since its classes are package-private. Run by
 * {@code ./bench verbs}; threads and lifetimes are JMH's.
 */
package org.sparkrdma.verbs.ibverbs;
