// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

/**
 * Sizes of the rings that drivers of hardware pin.
 *
 * @param completionQueueDepth capacity of a completion queue
 * @param queuePairBytes bytes of both rings of a queue pair
 */
public record RingSizes(int completionQueueDepth, long queuePairBytes) {}
