// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.cluster;

import java.util.Map;

/**
 * The result of one step of an application.
 *
 * @param application name of the application
 * @param step name of the step
 * @param right whether the result was that of vanilla Spark
 * @param seconds wall time
 * @param rdmaBytes of blocks by READ, from the plug-in's counters; -1 where executors were lost
 * @param tcpBytes of blocks by TCP, from the plug-in's counters
 * @param remoteBytesRead from Spark's task metrics
 * @param fallbacks blocks by TCP, by reason
 * @param failedTasks attempts that failed
 */
public record StepResult(
    String application,
    String step,
    boolean right,
    double seconds,
    long rdmaBytes,
    long tcpBytes,
    long remoteBytesRead,
    Map<String, Long> fallbacks,
    int failedTasks) {}
