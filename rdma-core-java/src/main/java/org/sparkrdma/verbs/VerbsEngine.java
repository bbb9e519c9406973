// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import java.util.List;
import java.util.OptionalLong;
import org.sparkrdma.verbs.device.DeviceInfo;

/**
 * A loaded engine: lists and opens its devices.
 *
 * <p>Safe for any thread. The caller that loaded it closes it, after the devices. Closing it closes
 * devices that are still open, and throws the first failure of their close. A second close closes
 * devices whose close failed, and otherwise does nothing; {@code open} then throws an {@link
 * IllegalStateException}.
 */
public interface VerbsEngine extends AutoCloseable {
  /** {@return the engine's name, see {@link org.sparkrdma.verbs.spi.VerbsProvider#name()}} */
  String name();

  /**
   * {@return the devices that are present; empty when there is none} See ibv_get_device_list(3).
   *
   * @throws VerbsException when the system cannot list them
   */
  List<DeviceInfo> devices() throws VerbsException;

  /**
   * Opens a device, see ibv_open_device(3). The caller closes it.
   *
   * @param deviceName as in {@link DeviceInfo#name()}
   * @return the device
   * @throws VerbsException when there is no such device or it cannot be opened
   */
  Device open(String deviceName) throws VerbsException;

  /**
   * As {@link #open(String)}, without querying the facts of the device again.
   *
   * @param device facts from a recent {@link #devices()} of this engine
   * @return the device
   * @throws VerbsException when it was removed or cannot be opened
   */
  default Device open(DeviceInfo device) throws VerbsException {
    return open(device.name());
  }

  /**
   * {@return bytes of memory that can be allocated on its devices now; empty where only the host's
   * memory limits them}
   */
  default OptionalLong freeMemoryBytes() {
    return OptionalLong.empty();
  }

  @Override
  void close();
}
