// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.recovery;

import java.io.Serializable;

/**
 * Input of each application of the benchmark, as JSON.
 *
 * @param maps map tasks, each writing a block for each reducer
 * @param blockBytes length of a block before Spark writes it; it does not compress
 * @param killAfter reducers that have ended when the executor is killed
 * @param warmUps jobs before the measured ones
 */
record RecoveryPlan(int maps, int reducers, int blockBytes, int killAfter, int warmUps, long seed)
    implements Serializable {}
