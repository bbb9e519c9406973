// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.cluster;

import java.util.Map;

/**
 * What one step of an application gave.
 *
 * @param application name of the application
 * @param step name of the step
 * @param right whether the answer was that of vanilla Spark
 * @param seconds wall time
 * @param rdmaBytes blocks by READ, as our counters say; -1 where executors were lost
 * @param tcpBytes blocks by TCP, as our counters say
 * @param remoteBytesRead as Spark's task metrics say
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
