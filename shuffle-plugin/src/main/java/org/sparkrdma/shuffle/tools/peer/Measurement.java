// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

/**
 * Figures of one way of transfer at one size. CPU times are those of whole processes, for each GiB
 * that was transferred.
 *
 * @param bytesPerSecond of several transfers at the same time
 * @param medianNs time of one transfer alone
 * @param p99Ns time that 99 % of single transfers do not exceed
 * @param clientCpuNsPerGib CPU time here
 * @param serverCpuNsPerGib CPU time of the process at the other end
 */
public record Measurement(
    double bytesPerSecond,
    long medianNs,
    long p99Ns,
    double clientCpuNsPerGib,
    double serverCpuNsPerGib) {}
