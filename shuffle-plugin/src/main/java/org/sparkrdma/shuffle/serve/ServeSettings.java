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
package org.sparkrdma.shuffle.serve;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.device.Capability;

/**
 * How blocks are served.
 *
 * @param mode which ways are open
 * @param windowBytes length of the file windows that are registered, a power of two
 * @param slotBytes length of a slot of the copy pool
 * @param slots most slots of the copy pool; 0 for none
 * @param lease how long a reader may READ what was located for it
 * @param indexCacheEntries most map outputs whose index and checksums are kept parsed
 * @param peerLeases most leases that one peer holds
 * @param peerPercent most of the budget and of the slots that one peer holds, 1 to 100
 * @param idle how long memory stays registered that nobody reads
 * @param copiesFirst whether windows that are hardly asked for are copied out of, not registered
 * @param computeSums whether the server takes checksums itself where none of use was recorded
 */
public record ServeSettings(
    Mode mode,
    int windowBytes,
    int slotBytes,
    int slots,
    Duration lease,
    int indexCacheEntries,
    int peerLeases,
    int peerPercent,
    Duration idle,
    boolean copiesFirst,
    boolean computeSums) {

  /** Which ways of serving are open. */
  public enum Mode {
    /** Registered windows; copies when a window cannot be had. */
    AUTO,
    /** Registered windows only. */
    WINDOW,
    /** Copies only. */
    COPY,
    /**
     * Windows that are not pinned: the device faults in what is read. Copies when a window cannot
     * be had; as {@link #AUTO} on a device that does not page on demand.
     */
    ODP
  }

  /** Whether windows are not pinned on this device. */
  boolean pagesOnDemand(Device device) {
    return mode == Mode.ODP && device.info().can(Capability.ON_DEMAND_PAGING);
  }

  /** Access of file windows on this device. */
  Set<AccessFlag> fileAccess(Device device) {
    return pagesOnDemand(device)
        ? EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.ON_DEMAND)
        : EnumSet.of(AccessFlag.REMOTE_READ);
  }

  /** Whether map-output files are registered on this device at all. */
  boolean registersFiles(Device device) {
    return mode != Mode.COPY && device.info().can(Capability.FILE_REGIONS);
  }
}
