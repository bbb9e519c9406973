// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.latency;

import java.io.Serializable;
import java.util.List;
import java.util.Map;
import org.sparkrdma.benchmarks.transfer.TransferEngine;

/**
 * Measurements of one executor for one engine in a round; the driver joins them.
 *
 * @param sum sum over the bytes written or read
 * @param ns time of each request in nanoseconds; empty for the executor that serves
 * @param allocatedBytes bytes that the task and the plug-in allocated on the heap meanwhile; 0 for
 *     the executor that serves
 * @param counters growth of the plug-in's counters, without zeros
 */
record LatencyShare(
    TransferEngine engine, long sum, List<Long> ns, long allocatedBytes, Map<String, Long> counters)
    implements Serializable {}
