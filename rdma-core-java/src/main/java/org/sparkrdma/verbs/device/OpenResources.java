// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.device;

/**
 * Number of open objects of a device, for leak checks and monitoring; what {@code rdma resource
 * show} counts.
 *
 * @param protectionDomains protection domains
 * @param memories blocks of host memory
 * @param memoryRegions regions
 * @param completionChannels completion channels
 * @param completionQueues completion queues
 * @param queuePairs queue pairs
 * @param connectionManagers connection managers
 * @param listeners listeners
 * @param connections connections in any phase
 */
public record OpenResources(
    int protectionDomains,
    int memories,
    int memoryRegions,
    int completionChannels,
    int completionQueues,
    int queuePairs,
    int connectionManagers,
    int listeners,
    int connections) {
  /** No open objects. */
  public static final OpenResources NONE = new OpenResources(0, 0, 0, 0, 0, 0, 0, 0, 0);
}
