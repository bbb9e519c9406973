// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.recovery;

/**
 * Measurements of one application.
 *
 * @param undisturbedSeconds wall time of the job without a loss
 * @param disturbedSeconds wall time of the same job with the loss of an executor
 * @param recoverySeconds time from the kill to the end of that job
 * @param readBytes bytes read by RDMA READ before the loss
 * @param checksum sum over all records that the reducers read, the same in both jobs
 */
record RecoveryResult(
    double undisturbedSeconds,
    double disturbedSeconds,
    double recoverySeconds,
    int failedTasks,
    int retriedStages,
    long readBytes,
    long checksum) {}
