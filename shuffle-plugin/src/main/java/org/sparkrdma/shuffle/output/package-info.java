// SPDX-License-Identifier: Apache-2.0
/**
 * Map outputs that Spark has written: offsets, lengths and checksums of their blocks.
 *
 * <p>Entry class {@link org.sparkrdma.shuffle.output.MapOutputs}, made by {@code
 * Broadcasts.outputs} and {@code StandInOutputs.addedTo}. No RDMA.
 */
package org.sparkrdma.shuffle.output;
