/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
