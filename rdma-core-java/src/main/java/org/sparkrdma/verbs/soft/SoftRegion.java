// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.engine.EngineRegion;
import org.sparkrdma.verbs.engine.RegionAccess;
import org.sparkrdma.verbs.soft.shared.FileLinks.LinkedFile;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/**
 * A region over memory or over a linked file, and its entry in the shared table. Safe for any
 * thread; {@link #view} needs the lock of the device.
 */
final class SoftRegion extends EngineRegion {
  private final SoftDevice device;
  private final SoftMemory memory;
  private final LinkedFile file;
  private final long fileOffset;

  /**
   * Publishes a region.
   *
   * @param memory or a file, which it takes over; the other one is null
   * @param offset in that memory or file
   */
  SoftRegion(
      SoftProtectionDomain domain,
      SoftDevice device,
      SoftMemory memory,
      LinkedFile file,
      long offset,
      long lengthBytes,
      int key,
      Set<AccessFlag> access) {
    super(
        domain,
        memory,
        RemoteRegion.ofKey32(
            memory == null ? device.takeAddresses(lengthBytes) : memory.address() + offset,
            lengthBytes,
            key),
        0,
        access);
    this.device = device;
    this.memory = memory;
    this.file = file;
    fileOffset = offset;
    device.table.publishRegion(
        key,
        address(),
        lengthBytes,
        offset,
        memory == null ? file.fileId() : memory.fileId(),
        domain.id(),
        RegionAccess.bits(access));
  }

  /** A view of its memory, see {@link SoftMemory#view}. */
  ByteBuffer view(long offset, int length) {
    return memory.view(fileOffset + offset, length);
  }

  /** Opens the file under it, which is sent, at that offset in the region; not of memory. */
  FileChannel openFile(long offset) throws IOException {
    return FileChannel.open(file.hardLink(), StandardOpenOption.READ).position(fileOffset + offset);
  }

  @Override
  protected void deregister() {
    device.settings.deregistration().charge(remote().lengthBytes());
    int key = remote().remoteKey32();
    device.onRetired(device.table.retireRegion(SharedTable.regionIndex(key)));
    device.regionKeys.release(key);
    if (file == null) {
      // Waits for a copy in progress; one that begins later finds the region closed.
      device.loop.call(() -> {});
    } else {
      device.links.release(file);
    }
  }
}
