/**
 * What can break on a block's way breaks here, on small clusters, and the answer is the vanilla one
 * within its time all the same. {@code FaultPoints} has the faults, {@code FaultsSuite} runs them
 * and makes the table of docs/faults.md.
 */
package org.sparkrdma.scenarios.faults;
