// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import java.util.Map;

/**
 * What one sort did, measured from inside the application.
 *
 * @param seconds wall time of the sort job, sampling and writing included, validation not
 * @param checksum of the sorted output, as Hadoop's TeraChecksum prints it
 * @param sparkRemoteBytes Spark's own count of shuffle bytes read from other executors
 * @param sparkLocalBytes Spark's own count of shuffle bytes read from the task's own executor
 * @param counters the plug-in's counters, summed over executors; empty without the plug-in
 * @param executorCpuSeconds CPU time of each executor process up to the end of the sort
 */
public record SortResult(
    double seconds,
    long records,
    String checksum,
    long sparkRemoteBytes,
    long sparkLocalBytes,
    Map<String, Long> counters,
    Map<String, Double> executorCpuSeconds) {}
