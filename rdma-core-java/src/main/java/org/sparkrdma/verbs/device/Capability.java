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
 * What an engine or its device can do beyond the common ground; absent means: do not ask for it.
 */
public enum Capability {
  /** SEND with immediate data; iWARP has none. */
  SEND_WITH_IMMEDIATE,
  /** RDMA WRITE with immediate data; iWARP has none. */
  WRITE_WITH_IMMEDIATE,
  /** Sends that carry their data in the work request, see {@link DeviceLimits#maxInlineBytes()}. */
  INLINE,
  /** A listener can refuse a connection request with private data. */
  REJECT,
  /** The acknowledge time-out of a connection can be set. */
  ACK_TIMEOUT,
  /** Private data travels with accept as well as with connect. */
  ACCEPT_PRIVATE_DATA,
  /**
   * What peers may do through a queue pair is set by the queue pair, and can be changed while it is
   * connected. Without it they may do through any whatever the regions of its protection domain
   * allow.
   */
  QUEUE_PAIR_ACCESS,
  /** Ranges of files can be registered. */
  FILE_REGIONS,
  /** Regions whose pages are not pinned, and READs out of them; see ibv_query_device_ex(3). */
  ON_DEMAND_PAGING,
  /** A peer that vanishes without a word is noticed by the engine itself. */
  DETECTS_DEAD_PEER
}
