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

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.thread.Owner;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;

/**
 * Copies bytes into registered slots, which are leased: the alternative to windows.
 *
 * <p>Blocks of one answer share slots; two answers never share one. On the server's thread.
 */
final class CopySlots implements AutoCloseable {
  private static final Logger LOGGER = LoggerFactory.getLogger(CopySlots.class);

  /** Approximate number of bytes registered at once, in whole slots. */
  private static final int SLAB_BYTES = 4 << 20;

  private final RegisteredPool pool;
  private final RegisteredFiles files;
  private final Owner owner;
  private final long slabBytes;

  private FileChannel channel;
  private ServedOutput channelOf;
  private RegisteredChunk slot;
  private int used;

  /**
   * @param slots at least 1
   * @param files deregisters windows when slots need memory
   */
  CopySlots(
      int slotBytes,
      int slots,
      Device device,
      ProtectionDomain domain,
      PinnedBudget budget,
      RegisteredFiles files,
      Owner owner) {
    // At most an eighth of the budget, so that windows fit beside a slab.
    long wanted = Math.min(SLAB_BYTES, budget.limitBytes() / 8);
    int slotsPerSlab = (int) Math.min(slots, Math.max(1, wanted / slotBytes));
    this.slabBytes = (long) slotsPerSlab * slotBytes;
    this.files = files;
    this.owner = owner;
    this.pool =
        new RegisteredPool(
            device,
            domain,
            budget,
            EnumSet.of(AccessFlag.REMOTE_READ),
            slotBytes,
            slotsPerSlab,
            (long) slots * slotBytes);
  }

  /**
   * Copies as much of a range of the file as fits into the current slot.
   *
   * @return false when no slot is free, or the peer's share is used up
   * @throws IOException when the file cannot be read or is too short
   */
  boolean copy(ServedOutput output, long fileOffset, long lengthBytes, Lease lease, Piece piece)
      throws IOException {
    assert owner.holds();
    if (slot == null || used == slot.lengthBytes()) {
      slot = lease.share().admitSlot() ? take().orElse(null) : null;
      used = 0;
      if (slot == null) {
        return false;
      }
      lease.add(slot);
    }
    int copied = (int) Math.min(lengthBytes, slot.lengthBytes() - used);
    read(output, fileOffset, slot.slice(used, copied));
    piece.set(slot.address() + used, slot.region().remote().remoteKey(), copied);
    used += copied;
    return true;
  }

  private Optional<RegisteredChunk> take() {
    Optional<RegisteredChunk> free = pool.tryTake();
    if (free.isEmpty() && pool.couldGrow() && files.makeRoom(slabBytes)) {
      free = pool.tryTake();
    }
    return free;
  }

  private void read(ServedOutput output, long fileOffset, ByteBuffer target) throws IOException {
    if (channelOf != output) {
      closeChannel();
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

  /** Ends an answer: the slot stays with its lease, the file is closed. */
  void endAnswer() {
    assert owner.holds();
    slot = null;
    closeChannel();
  }

  private void closeChannel() {
    channelOf = null;
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException e) {
        LOGGER.debug("closing a file after reading failed", e);
      }
      channel = null;
    }
  }

  /**
   * Deregisters memory without leased slots.
   *
   * @return whether there was such memory
   */
  boolean trim() {
    assert owner.holds();
    long before = pool.registeredBytes();
    pool.trim();
    return pool.registeredBytes() < before;
  }

  /** Whether any memory is registered for slots. */
  boolean isRegistered() {
    return pool.registeredBytes() > 0;
  }

  /** Deregisters memory that was not leased since the last call. */
  void trimUnused() {
    assert owner.holds();
    pool.trimUnused();
  }

  /** After the last lease has ended. */
  @Override
  public void close() {
    assert owner.holds();
    pool.close();
  }
}
