// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.util.List;
import org.sparkrdma.verbs.device.DeviceInfo;

/** Lists the RDMA devices of a host. */
interface DeviceSource {
  /**
   * All devices, in the order of the engine.
   *
   * @throws NotUsableException when the engine cannot run here
   */
  List<DeviceInfo> devices() throws NotUsableException;
}
