// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.soft.shared.AccessBits;
import org.sparkrdma.verbs.soft.shared.QueuePairNumbers;
import org.sparkrdma.verbs.soft.shared.RegionKeys;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/**
 * Executes READs and WRITEs in a peer's memory, one piece at a time: announce, check, copy. The
 * copy is a positioned read or write of the owner's file, so that a truncated file is an error and
 * no signal. Guarded by the lock of the device, which it releases while it copies.
 */
final class OneSided {
  private static final Logger LOG = LoggerFactory.getLogger(OneSided.class);

  /** Length of a piece: other queue pairs and deregistrations wait for one at most. */
  static final int PIECE_BYTES = 1 << 20;

  private static final int STAGING_BYTES = 1 << 16;

  private final DeviceLoop loop;
  private final boolean copiesReads;
  private final ByteBuffer staging = ByteBuffer.allocateDirect(STAGING_BYTES);

  /**
   * @param copiesReads false leaves the data of READs out, see {@link SoftProvider#loadWithoutCopy}
   */
  OneSided(DeviceLoop loop, boolean copiesReads) {
    this.loop = loop;
    this.copiesReads = copiesReads;
  }

  /**
   * Copies the next piece of a request that has bytes left, and advances its progress.
   *
   * @param queuePairNumber the peer's
   */
  WorkStatus step(SoftQueuePair owner, SoftPeer peer, int queuePairNumber, WorkEntry entry) {
    SharedTable table = peer.table;
    int queuePair = QueuePairNumbers.indexOf(queuePairNumber);
    int region = RegionKeys.indexOf(entry.remoteKey);
    boolean copies = copiesReads || entry.opcode != Opcode.READ;
    ByteBuffer local;
    try {
      local = copies ? local(entry) : null;
    } catch (IOException e) {
      LOG.debug("Could not read the local file", e);
      return WorkStatus.LOCAL_PROTECTION_ERROR;
    }
    table.enter(peer.reader, queuePair, region);
    try {
      if (!table.isQueuePairLive(queuePair, queuePairNumber)) {
        return WorkStatus.RETRY_EXCEEDED;
      }
      if (!mayAccess(table, queuePair, region, entry)) {
        return WorkStatus.REMOTE_ACCESS_ERROR;
      }
      if (!copies) {
        entry.progress = entry.totalBytes;
        return WorkStatus.SUCCESS;
      }
      return copy(owner, peer, region, entry, local);
    } finally {
      table.leave(peer.reader);
    }
  }

  private ByteBuffer local(WorkEntry entry) throws IOException {
    ByteBuffer view = entry.view(true, PIECE_BYTES);
    if (view != null) {
      return view;
    }
    staging.clear();
    entry.readFile(staging);
    return staging.flip();
  }

  private static boolean mayAccess(SharedTable table, int queuePair, int region, WorkEntry entry) {
    int needed = entry.opcode == Opcode.READ ? AccessBits.REMOTE_READ : AccessBits.REMOTE_WRITE;
    if (!table.isRegionLive(region, entry.remoteKey)
        || table.regionDomain(region) != table.queuePairDomain(queuePair)
        || (table.regionAccess(region) & table.queuePairAccess(queuePair) & needed) == 0) {
      return false;
    }
    long offset = entry.remoteAddress - table.regionAddress(region);
    return offset >= 0 && offset <= table.regionLength(region) - entry.totalBytes;
  }

  private WorkStatus copy(
      SoftQueuePair owner, SoftPeer peer, int region, WorkEntry entry, ByteBuffer local) {
    SharedTable table = peer.table;
    boolean write = entry.opcode != Opcode.READ;
    boolean interrupted = false;
    long position =
        table.regionFileOffset(region)
            + (entry.remoteAddress - table.regionAddress(region))
            + entry.progress;
    try {
      while (local.hasRemaining()) {
        FileChannel file = peer.file(table.regionFileId(region), region, write);
        int count;
        loop.beginCopy(owner);
        try {
          count = write ? file.write(local, position) : file.read(local, position);
        } catch (ClosedByInterruptException e) {
          // Of this channel only: the next one is opened again.
          interrupted |= Thread.interrupted();
          continue;
        } finally {
          loop.endCopy();
        }
        if (count <= 0) {
          return WorkStatus.REMOTE_OPERATION_ERROR;
        }
        position += count;
        entry.progress += count;
      }
      return WorkStatus.SUCCESS;
    } catch (IOException e) {
      LOG.debug("Could not reach the peer's memory: pid={}", peer.process.pid(), e);
      return WorkStatus.REMOTE_OPERATION_ERROR;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
