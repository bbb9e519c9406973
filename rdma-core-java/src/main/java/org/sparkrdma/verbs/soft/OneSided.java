// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.FileChannel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.engine.RegionAccess;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/**
 * Copies from and to a peer's memory, one piece at a time: announce, check, copy. The copy is a
 * positioned read or write of the owner's file, so that a truncated file is an error and no signal,
 * and a stopped process can be read. Guarded by the lock of the device, which is released while the
 * bytes of a long request are copied.
 */
final class OneSided {
  private static final Logger LOG = LoggerFactory.getLogger(OneSided.class);

  /** Length of a piece: other long copies and deregistrations wait for one at most. */
  static final int PIECE_BYTES = 1 << 20;

  private static final int STAGING_BYTES = 1 << 16;

  private final DeviceLoop loop;
  private final boolean copiesReads;
  private final ByteBuffer shortStaging = ByteBuffer.allocateDirect(STAGING_BYTES);
  private final ByteBuffer longStaging = ByteBuffer.allocateDirect(STAGING_BYTES);

  /**
   * @param copiesReads false leaves the data of READs out, see {@link SoftProvider#loadWithoutCopy}
   */
  OneSided(DeviceLoop loop, boolean copiesReads) {
    this.loop = loop;
    this.copiesReads = copiesReads;
  }

  /** Checks that the peer's queue pair can receive. */
  WorkStatus check(SoftPeer peer, int queuePairNumber) {
    int queuePair = SharedTable.queuePairIndex(queuePairNumber);
    return peer.table.isQueuePairLive(queuePair, queuePairNumber)
        ? WorkStatus.SUCCESS
        : WorkStatus.RETRY_EXCEEDED;
  }

  /**
   * Copies the next piece of a request that has bytes left, and advances its progress.
   *
   * @param queuePairNumber the peer's
   * @param key of the peer's memory
   * @param address in the peer's memory
   * @param limit bytes that must lie in the peer's memory; at most that many are copied
   * @param access required of the peer's memory, as in RegionAccess
   */
  WorkStatus step(
      SoftQueuePair owner,
      SoftPeer peer,
      int queuePairNumber,
      WorkEntry entry,
      int key,
      long address,
      long limit,
      int access) {
    boolean copies = copiesReads || entry.opcode != Opcode.READ;
    boolean isLong = entry.totalBytes > SendSide.SHORT_BYTES;
    ByteBuffer local = null;
    if (copies) {
      try {
        local = local(entry, isLong, (int) Math.min(limit, PIECE_BYTES));
      } catch (IOException e) {
        LOG.debug("Could not read the local file", e);
        return WorkStatus.LOCAL_PROTECTION_ERROR;
      }
    }
    SharedTable table = peer.table;
    int queuePair = SharedTable.queuePairIndex(queuePairNumber);
    int region = SharedTable.regionIndex(key);
    int reader = isLong ? peer.longReader : peer.shortReader;
    table.enter(reader, queuePair, region);
    try {
      if (!table.isQueuePairLive(queuePair, queuePairNumber)) {
        return WorkStatus.RETRY_EXCEEDED;
      }
      long offset = address - table.regionAddress(region);
      if (!table.isRegionLive(region, key)
          || table.regionDomain(region) != table.queuePairDomain(queuePair)
          || !isAllowed(table, queuePair, region, access)
          || offset < 0
          || offset > table.regionLength(region) - limit) {
        return WorkStatus.REMOTE_ACCESS_ERROR;
      }
      if (!copies) {
        entry.progress = entry.totalBytes;
        return WorkStatus.SUCCESS;
      }
      return copy(owner, peer, region, offset, entry, local);
    } finally {
      table.leave(reader);
    }
  }

  /** Memory of receives must be writable; the access of the queue pair is for the others. */
  private static boolean isAllowed(SharedTable table, int queuePair, int region, int access) {
    int granted = table.regionAccess(region) & access;
    return access == RegionAccess.LOCAL_WRITE
        ? granted != 0
        : (granted & table.queuePairAccess(queuePair)) != 0;
  }

  private ByteBuffer local(WorkEntry entry, boolean isLong, int limit) throws IOException {
    ByteBuffer view = entry.view(isLong, limit);
    if (view != null) {
      return view;
    }
    ByteBuffer staging = isLong ? longStaging : shortStaging;
    staging.clear().limit(Math.min(limit, STAGING_BYTES));
    entry.readFile(staging);
    return staging.flip();
  }

  private WorkStatus copy(
      SoftQueuePair owner,
      SoftPeer peer,
      int region,
      long offset,
      WorkEntry entry,
      ByteBuffer local) {
    SharedTable table = peer.table;
    boolean write = entry.opcode != Opcode.READ;
    boolean interrupted = false;
    long position = table.regionFileOffset(region) + offset;
    try {
      while (local.hasRemaining()) {
        FileChannel file = peer.file(table.regionFileId(region), region);
        int count;
        try {
          count = transfer(owner, entry, peer, file, write, local, position);
        } catch (AsynchronousCloseException e) {
          // An interrupt of a thread closes the channel that it uses: it is opened again.
          interrupted |= Thread.interrupted();
          continue;
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

  private int transfer(
      SoftQueuePair owner,
      WorkEntry entry,
      SoftPeer peer,
      FileChannel file,
      boolean write,
      ByteBuffer local,
      long position)
      throws IOException {
    if (entry.totalBytes <= SendSide.SHORT_BYTES) {
      return write ? file.write(local, position) : file.read(local, position);
    }
    peer.inUse = file;
    loop.beginCopy(owner);
    try {
      return write ? file.write(local, position) : file.read(local, position);
    } finally {
      loop.endCopy();
      peer.inUse = null;
    }
  }
}
