// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.verbs.Device;

/**
 * The way in which this server makes blocks readable. Immutable.
 *
 * @param fromWindows whether map-output files are registered
 * @param windowBytes length of a window, a power of two
 * @param copyPolicy when to copy out of an unregistered window; null to register at once
 */
record ServingMode(boolean fromWindows, int windowBytes, CopyOrRegisterPolicy copyPolicy) {
  /**
   * Index of the window with this byte of a file.
   *
   * @param windowBytes length of a window, a power of two: a division costs much here
   */
  static int windowIndex(long fileOffset, int windowBytes) {
    return (int) (fileOffset >>> Integer.numberOfTrailingZeros(windowBytes));
  }

  /**
   * The mode that these settings have on a device.
   *
   * @param hasSlots whether copying is on
   * @param costs called once, where the mode depends on them
   * @param writtenAgain directories whose registered files are written to a disk once more
   */
  static ServingMode of(
      ServeSettings settings,
      Device device,
      boolean hasSlots,
      Supplier<ServingCosts> costs,
      List<Path> writtenAgain) {
    boolean fromWindows = settings.registersFiles(device);
    // Registration without pinning is cheap.
    boolean pinned = fromWindows && !settings.pagesOnDemand(device);
    boolean both = pinned && hasSlots && settings.copiesFirst();
    return new ServingMode(
        fromWindows,
        settings.windowBytes(),
        both ? new CopyOrRegisterPolicy(costs.get(), writtenAgain) : null);
  }
}
