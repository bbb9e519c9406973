// SPDX-License-Identifier: Apache-2.0
/**
 * Every fault on a block's way, on small clusters: the answer must be that of vanilla Spark, within
 * a time bound. {@code FaultPoints} lists the faults, {@code FaultsSuite} runs them.
 */
package org.sparkrdma.scenarios.faults;
