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
