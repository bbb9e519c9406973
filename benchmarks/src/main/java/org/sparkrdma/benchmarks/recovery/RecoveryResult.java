// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.recovery;

/**
 * What one application measured.
 *
 * @param undisturbedSeconds of the job while nothing was lost
 * @param disturbedSeconds of the same job in which the executor was killed
 * @param recoverySeconds from the kill to the end of that job
 * @param readBytes that had come by READ before the loss
 * @param checksum of all records that the reducers got, the same in both jobs
 */
record RecoveryResult(
    double undisturbedSeconds,
    double disturbedSeconds,
    double recoverySeconds,
    int failedTasks,
    int retriedStages,
    long readBytes,
    long checksum) {}
