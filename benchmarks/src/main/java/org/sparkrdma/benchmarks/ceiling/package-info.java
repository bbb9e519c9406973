// SPDX-License-Identifier: Apache-2.0
/**
 * Measures what the plug-in itself costs for each block, without any copy: both executors run it on
 * the loopback engine with READs that move no bytes, as an infinitely fast device.
 *
 * <p>Entry: {@link org.sparkrdma.benchmarks.ceiling.CeilingCommand}, behind {@code ./bench
 * ceiling}. It submits {@link org.sparkrdma.benchmarks.ceiling.CeilingApplication}, whose rounds
 * are {@link org.sparkrdma.benchmarks.ceiling.CeilingTask}. The engine is {@link
 * org.sparkrdma.benchmarks.ceiling.NoCopyProvider}, which only the jar of the benchmarks contains.
 */
package org.sparkrdma.benchmarks.ceiling;
