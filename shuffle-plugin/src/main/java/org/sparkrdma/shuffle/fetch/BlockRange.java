// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

/**
 * A shuffle block, or a batch of neighbouring ones of one map output.
 *
 * @param mapId the map task's attempt id, as in the block's name
 * @param startReduceId first reduce partition
 * @param endReduceId one past the last reduce partition
 */
public record BlockRange(int shuffleId, long mapId, int startReduceId, int endReduceId) {}
