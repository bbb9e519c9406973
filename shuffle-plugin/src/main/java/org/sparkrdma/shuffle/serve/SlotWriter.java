// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.RegisteredChunk;

/**
 * Copies the blocks of one answer into slots, one after another; the slots belong to the answer's
 * lease. Used with the server's lock, which is released while the file is read.
 */
final class SlotWriter {
  private static final Logger LOG = LoggerFactory.getLogger(SlotWriter.class);

  private final CopySlots slots;
  private final StateLock state;
  private FileChannel channel;
  private ServedOutput channelOf;
  private RegisteredChunk slot;
  private int used;

  SlotWriter(CopySlots slots, StateLock state) {
    this.slots = slots;
    this.state = state;
  }

  /**
   * Copies as much of a range of the file as fits into the current slot.
   *
   * @return false when no slot is free, or the peer's share is used up
   * @throws IOException when the file cannot be read or is too short
   */
  boolean copy(ServedOutput output, long fileOffset, long lengthBytes, Lease lease, Piece piece)
      throws IOException {
    assert state.isHeld();
    if (slot == null || used == slot.lengthBytes()) {
      slot = lease.share().admitSlot() ? takeSlot(lease) : null;
      used = 0;
      if (slot == null) {
        return false;
      }
    }
    int copied = (int) Math.min(lengthBytes, slot.lengthBytes() - used);
    ByteBuffer target = slot.slice(used, copied);
    state.<Void, IOException>unlocked(
        () -> {
          read(output, fileOffset, target);
          return null;
        });
    piece.set(slot.address() + used, slot.region().remote().remoteKey32(), copied);
    used += copied;
    return true;
  }

  private RegisteredChunk takeSlot(Lease lease) {
    RegisteredChunk free = slots.take(lease).orElse(null);
    boolean added = false;
    try {
      // The lock may have been released meanwhile, and the peer may have got other slots.
      if (free != null && lease.share().admitSlot()) {
        lease.add(free);
        added = true;
      }
    } finally {
      if (free != null && !added) {
        free.release();
      }
    }
    return added ? free : null;
  }

  private void read(ServedOutput output, long fileOffset, ByteBuffer target) throws IOException {
    if (channelOf != output) {
      close();
      channel = FileChannel.open(output.mapOutput().dataFile(), StandardOpenOption.READ);
      channelOf = output;
    }
    long at = fileOffset;
    while (target.hasRemaining()) {
      int count = channel.read(target, at);
      if (count < 0) {
        throw new EOFException("data file too short: offset=" + at);
      }
      at += count;
    }
  }

  /** Ends the answer: the slots stay with its lease, the file is closed. */
  void close() {
    channelOf = null;
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException e) {
        LOG.debug("Closing a file after reading failed", e);
      }
      channel = null;
    }
  }
}
