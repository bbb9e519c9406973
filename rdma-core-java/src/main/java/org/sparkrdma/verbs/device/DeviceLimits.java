// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.device;

/**
 * Limits of a device, see ibv_query_device(3).
 *
 * @param maxQueuePairs queue pairs
 * @param maxQueuePairDepth work requests outstanding on one send or receive queue
 * @param maxSge scatter/gather elements of a work request
 * @param maxReadSge scatter/gather elements of an RDMA READ; 1 on iWARP
 * @param maxCompletionQueueDepth entries of a completion queue
 * @param maxMemoryRegions regions registered at once
 * @param maxMemoryRegionBytes length of one region
 * @param maxMessageBytes length of one message
 * @param maxReadsInFlight RDMA READs outstanding per queue pair, as initiator and as responder
 * @param maxPrivateDataBytes private data that every step of a connection can carry; 0 when it
 *     cannot be read
 * @param completionVectors interrupts among which completion queues can be spread, at least 1
 */
public record DeviceLimits(
    int maxQueuePairs,
    int maxQueuePairDepth,
    int maxSge,
    int maxReadSge,
    int maxCompletionQueueDepth,
    int maxMemoryRegions,
    long maxMemoryRegionBytes,
    long maxMessageBytes,
    int maxReadsInFlight,
    int maxPrivateDataBytes,
    int completionVectors) {}
