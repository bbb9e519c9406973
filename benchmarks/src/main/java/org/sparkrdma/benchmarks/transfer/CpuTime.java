// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.Serializable;

/**
 * CPU time of a process or a machine.
 *
 * @param ns nanoseconds of all threads
 * @param compilerNs those of the JIT compiler's threads; 0 where it is not known
 */
record CpuTime(long ns, long compilerNs) implements Serializable {}
