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
package org.sparkrdma.verbs;

/** Access that is allowed to a region, or through a queue pair; see ibv_reg_mr(3). */
public enum AccessFlag {
  /** The device may write for its owner: receives and the sinks of RDMA READ need it. */
  LOCAL_WRITE,
  /** Peers may write; needs {@link #LOCAL_WRITE} as well. */
  REMOTE_WRITE,
  /** Peers may read. */
  REMOTE_READ,
  /**
   * For regions only: their pages are not pinned; the device faults them in when they are used.
   * Requires {@link org.sparkrdma.verbs.device.Capability#ON_DEMAND_PAGING}.
   */
  ON_DEMAND
}
