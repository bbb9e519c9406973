// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

/**
 * Objects and memory that an executor with one connection has at the same time, at least.
 *
 * @param completionQueueDepth capacity of a completion queue
 * @param sendDepth of a queue pair
 * @param receiveDepth of a queue pair
 * @param ringBytes bytes of the rings of a completion queue and a queue pair, which drivers of
 *     hardware pin
 * @param memoryBytes of message buffers and of the first receive memory
 */
public record ExecutorNeeds(
    int completionQueueDepth, int sendDepth, int receiveDepth, long ringBytes, long memoryBytes) {}
