// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import org.sparkrdma.verbs.engine.RegionAccess;

/**
 * Objects that peers may access, in memory that the owner and its peers share: regions, queue
 * pairs, and the peers that are reading now.
 *
 * <p>An access and its check are one step: a peer first writes into its reader slot which queue
 * pair and region it is about to use, then checks both entries, copies, and clears the slot. The
 * owner first retires an entry and then waits until no slot names it. With a full fence between the
 * two steps on both sides one of them sees the other (a hazard pointer across processes). A slot of
 * an ended process does not block the owner; the next peer takes it over. That of a stopped process
 * blocks it for a second. Peers therefore check once more after a copy: what was read after the
 * owner's wait counts as refused. What may still be written cannot be called back.
 *
 * <pre>
 *  0        header   magic, reader slots ever used, secret (32 bytes), whether the owner sleeps
 *  4 KiB    regions     32,768 x 64 bytes   word (live bit and key), address, length,
 *                                           file offset, file id, domain and access
 *  + 2 MiB  queue pairs  4,096 x 32 bytes   word (live bit and number), domain, access
 *  + 128 K  readers      1,024 x 64 bytes   process word,
 *                                           hold (queue pair + 1, whether it writes, region + 1)
 *  + 64 K   arrivals     summary, and a bit for each queue pair that has work
 * </pre>
 *
 * <p>The file is written in full before it is mapped, so that no page can be missing. Safe for any
 * thread; a reader slot is guarded by the lock of a device.
 */
public final class SharedTable {
  public static final int REGIONS = 1 << 15;
  public static final int QUEUE_PAIRS = 1 << 12;
  public static final int READERS = 1 << 10;
  public static final int SECRET_BYTES = 32;

  private static final long MAGIC = 0x53524f4654424c32L;
  private static final int HEADER_BYTES = 4_096;
  private static final int READERS_USED = 16;
  private static final int SECRET = 64;
  private static final int ASLEEP = 128;
  private static final int REGION_BYTES = 64;
  private static final int QUEUE_PAIR_BYTES = 32;
  private static final int READER_BYTES = 64;
  private static final int QUEUE_PAIR_BASE = HEADER_BYTES + REGIONS * REGION_BYTES;
  private static final int READER_BASE = QUEUE_PAIR_BASE + QUEUE_PAIRS * QUEUE_PAIR_BYTES;
  private static final int ARRIVALS_BASE = READER_BASE + READERS * READER_BYTES;
  private static final int ARRIVALS = ARRIVALS_BASE + 64;
  private static final int TABLE_BYTES = ARRIVALS + QUEUE_PAIRS / Byte.SIZE;

  private static final int ADDRESS = 8;
  private static final int LENGTH = 16;
  private static final int FILE_OFFSET = 24;
  private static final int FILE_ID = 32;
  private static final int DOMAIN = 40;
  private static final int ACCESS = 44;
  private static final int QUEUE_PAIR_DOMAIN = 8;
  private static final int QUEUE_PAIR_ACCESS = 12;
  private static final int HOLD = 8;

  private static final long LIVE = 1L << 32;
  private static final long REGION_MASK = 0xffff_ffffL;
  private static final long QUEUE_PAIR_MASK = 0xffff_ffffL << 32;
  private static final long WRITES = 1L << 31;
  private static final long HELD_REGION_MASK = WRITES - 1;
  private static final int SPINS = 200;

  /** How long the owner waits for copies, of which each takes less than a millisecond. */
  private static final long LIMIT_NS = 1_000_000_000;

  private static final long PAUSE_NS = 50_000;

  private static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private final ByteBuffer table;

  private SharedTable(ByteBuffer table) {
    this.table = table.order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Creates the table of the owner in a new file. */
  public static SharedTable create(Path file, byte[] secret) throws IOException {
    try (FileChannel channel = PrivateFiles.create(file)) {
      PrivateFiles.fillWithZeros(channel, TABLE_BYTES);
      var table = map(channel);
      table.table.put(SECRET, secret);
      LONGS.setRelease(table.table, 0, MAGIC);
      return table;
    }
  }

  /**
   * Opens a peer's table.
   *
   * @throws IOException when it is not one
   */
  public static SharedTable attach(Path file) throws IOException {
    try (FileChannel channel = PrivateFiles.open(file)) {
      if (channel.size() != TABLE_BYTES) {
        throw new IOException("not a region table: lengthBytes=" + channel.size());
      }
      var table = map(channel);
      if ((long) LONGS.getAcquire(table.table, 0) != MAGIC) {
        throw new IOException("not a region table: wrong magic");
      }
      return table;
    }
  }

  private static SharedTable map(FileChannel channel) throws IOException {
    return new SharedTable(channel.map(FileChannel.MapMode.READ_WRITE, 0, TABLE_BYTES));
  }

  /** The index of the region with that key. */
  public static int regionIndex(int key) {
    return key & (REGIONS - 1);
  }

  /** The index of the queue pair with that number. */
  public static int queuePairIndex(int number) {
    return number & (QUEUE_PAIRS - 1);
  }

  public byte[] secret() {
    byte[] secret = new byte[SECRET_BYTES];
    table.get(SECRET, secret);
    return secret;
  }

  // Called by the owner: regions.

  /**
   * Shows a region to peers under its key.
   *
   * @param address its first address, in the address space of its owner
   * @param fileOffset offset of that address in the file
   * @param fileId of the file that peers open, see {@link SharedDirectory#file}
   * @param domain of the owner
   * @param access as the kernel's flags
   */
  public void publishRegion(
      int key,
      long address,
      long lengthBytes,
      long fileOffset,
      long fileId,
      int domain,
      int access) {
    int at = region(regionIndex(key));
    table.putLong(at + ADDRESS, address);
    table.putLong(at + LENGTH, lengthBytes);
    table.putLong(at + FILE_OFFSET, fileOffset);
    table.putLong(at + FILE_ID, fileId);
    table.putInt(at + DOMAIN, domain);
    table.putInt(at + ACCESS, access);
    LONGS.setRelease(table, at, LIVE | (key & REGION_MASK));
  }

  /**
   * Invalidates the entry and returns when no peer uses it any more, or after the limit.
   *
   * @return false when a stopped peer may still write into the region
   */
  public boolean retireRegion(int index) {
    LONGS.setVolatile(table, region(index), 0L);
    return awaitReaders(HELD_REGION_MASK, index + 1L);
  }

  // Called by the owner: queue pairs.

  public void publishQueuePair(int index, int number, int domain, int access) {
    int at = queuePair(index);
    table.putInt(at + QUEUE_PAIR_DOMAIN, domain);
    INTS.setOpaque(table, at + QUEUE_PAIR_ACCESS, access);
    LONGS.setRelease(table, at, LIVE | (number & REGION_MASK));
  }

  /**
   * Changes the access of later operations; see {@link #awaitQueuePairReaders} for those in
   * progress.
   */
  public void setQueuePairAccess(int index, int access) {
    INTS.setVolatile(table, queuePair(index) + QUEUE_PAIR_ACCESS, access);
  }

  /**
   * Invalidates the entry; operations of peers may be in progress, see {@link
   * #awaitQueuePairReaders}.
   */
  public void retireQueuePair(int index) {
    LONGS.setVolatile(table, queuePair(index), 0L);
  }

  /**
   * Returns when no peer uses the queue pair as it was before, or after the limit.
   *
   * @return false when a stopped peer may still write by it
   */
  public boolean awaitQueuePairReaders(int index) {
    return awaitReaders(QUEUE_PAIR_MASK, (index + 1L) << 32);
  }

  private boolean awaitReaders(long mask, long holder) {
    VarHandle.fullFence();
    int used = (int) INTS.getVolatile(table, READERS_USED);
    long endNs = System.nanoTime() + LIMIT_NS;
    boolean ended = true;
    for (int reader = 0; reader < used; reader++) {
      ended &= awaitReader(reader, mask, holder, endNs);
    }
    return ended;
  }

  private boolean awaitReader(int reader, long mask, long holder, long endNs) {
    int rounds = 0;
    long hold = hold(reader);
    while ((hold & mask) == holder) {
      if (++rounds < SPINS) {
        Thread.onSpinWait();
      } else if (!isReaderAlive(reader)) {
        return true;
      } else if (System.nanoTime() - endNs >= 0) {
        return (hold & WRITES) == 0;
      } else {
        LockSupport.parkNanos(PAUSE_NS);
      }
      hold = hold(reader);
    }
    return true;
  }

  private long hold(int reader) {
    return (long) LONGS.getVolatile(table, reader(reader) + HOLD);
  }

  private boolean isReaderAlive(int reader) {
    long word = (long) LONGS.getVolatile(table, reader(reader));
    return word != 0 && ProcessIdentity.ofWord(word).isAlive();
  }

  // Called by peers.

  /** Claims a reader slot for a device of the process; -1 when all are in use. */
  public int claimReader(ProcessIdentity process) {
    int reader = claimReader(process, false);
    return reader >= 0 ? reader : claimReader(process, true);
  }

  private int claimReader(ProcessIdentity process, boolean fromTheDead) {
    for (int reader = 0; reader < READERS; reader++) {
      int at = reader(reader);
      long before = (long) LONGS.getVolatile(table, at);
      boolean free = before == 0 || (fromTheDead && !ProcessIdentity.ofWord(before).isAlive());
      if (free && LONGS.compareAndSet(table, at, before, process.toWord())) {
        LONGS.setVolatile(table, at + HOLD, 0L);
        noteUsed(reader + 1);
        return reader;
      }
    }
    return -1;
  }

  private void noteUsed(int count) {
    int before = (int) INTS.getVolatile(table, READERS_USED);
    while (before < count && !INTS.compareAndSet(table, READERS_USED, before, count)) {
      before = (int) INTS.getVolatile(table, READERS_USED);
    }
  }

  public void releaseReader(int reader) {
    LONGS.setVolatile(table, reader(reader) + HOLD, 0L);
    LONGS.setVolatile(table, reader(reader), 0L);
  }

  /**
   * Announces an access: entries that are checked afterwards stay valid until {@link #leave}, but
   * for a process that is stopped for long, which checks them again.
   *
   * @param writes whether it writes into the region
   */
  public void enter(int reader, int queuePair, int region, boolean writes) {
    long hold = ((queuePair + 1L) << 32) | (region + 1L) | (writes ? WRITES : 0);
    LONGS.setVolatile(table, reader(reader) + HOLD, hold);
    VarHandle.fullFence();
  }

  public void leave(int reader) {
    LONGS.setVolatile(table, reader(reader) + HOLD, 0L);
  }

  public boolean isQueuePairLive(int index, int number) {
    return (long) LONGS.getVolatile(table, queuePair(index)) == (LIVE | (number & REGION_MASK));
  }

  public boolean isRegionLive(int index, int key) {
    return (long) LONGS.getVolatile(table, region(index)) == (LIVE | (key & REGION_MASK));
  }

  /**
   * Whether the entry is live and of this file; a hint, unless the caller holds it in its reader
   * slot.
   */
  public boolean isRegionOf(int index, long fileId) {
    return ((long) LONGS.getVolatile(table, region(index)) & LIVE) != 0
        && regionFileId(index) == fileId;
  }

  public long regionFileId(int index) {
    return table.getLong(region(index) + FILE_ID);
  }

  /**
   * Whether a peer may use a range of a region by a queue pair; the caller holds both in its reader
   * slot.
   *
   * @param access as in RegionAccess; memory of receives must be writable, for the other kinds the
   *     queue pair must grant the access too
   */
  public boolean allows(
      int queuePair, int index, int key, long address, long lengthBytes, int access) {
    if (!isRegionLive(index, key)) {
      return false;
    }
    int at = region(index);
    int pair = queuePair(queuePair);
    long offset = address - table.getLong(at + ADDRESS);
    int granted = table.getInt(at + ACCESS) & access;
    if (access != RegionAccess.LOCAL_WRITE) {
      granted &= (int) INTS.getVolatile(table, pair + QUEUE_PAIR_ACCESS);
    }
    return table.getInt(at + DOMAIN) == table.getInt(pair + QUEUE_PAIR_DOMAIN)
        && granted != 0
        && offset >= 0
        && offset <= table.getLong(at + LENGTH) - lengthBytes;
  }

  /** The position of an address of the region in its file. */
  public long filePosition(int index, long address) {
    int at = region(index);
    return table.getLong(at + FILE_OFFSET) + address - table.getLong(at + ADDRESS);
  }

  // Arrivals of work.

  /**
   * A message of this queue pair was delivered by a peer, which then asks {@link #tryClaimWake}, or
   * work was posted by its owner. A peer that ends between the two writes leaves an arrival that
   * the owner finds at the end of the connection at the latest.
   */
  public void ring(int queuePair) {
    int word = queuePair / Long.SIZE;
    LONGS.getAndBitwiseOr(table, ARRIVALS + word * Long.BYTES, 1L << queuePair);
    LONGS.getAndBitwiseOr(table, ARRIVALS_BASE, 1L << word);
    VarHandle.fullFence();
  }

  /** Called by a peer: whether the owner sleeps, and no other peer is waking it. */
  public boolean tryClaimWake() {
    return (int) INTS.getVolatile(table, ASLEEP) == 1 && INTS.compareAndSet(table, ASLEEP, 1, 0);
  }

  /**
   * Called by the owner, which then looks for arrivals once more: with a full fence between the two
   * steps on both sides, the owner finds the arrival or the peer finds the owner asleep.
   */
  public void setAsleep(boolean asleep) {
    INTS.setVolatile(table, ASLEEP, asleep ? 1 : 0);
    VarHandle.fullFence();
  }

  public boolean hasArrivals() {
    return (long) LONGS.getVolatile(table, ARRIVALS_BASE) != 0;
  }

  /** Called by the owner: takes the indexes of the queue pairs with arrivals. */
  public void takeArrivals(IntConsumer queuePairs) {
    long words = (long) LONGS.getAndSet(table, ARRIVALS_BASE, 0L);
    for (; words != 0; words &= words - 1) {
      int word = Long.numberOfTrailingZeros(words);
      long bits = (long) LONGS.getAndSet(table, ARRIVALS + word * Long.BYTES, 0L);
      for (; bits != 0; bits &= bits - 1) {
        queuePairs.accept(word * Long.SIZE + Long.numberOfTrailingZeros(bits));
      }
    }
  }

  private static int region(int index) {
    return HEADER_BYTES + index * REGION_BYTES;
  }

  private static int queuePair(int index) {
    return QUEUE_PAIR_BASE + index * QUEUE_PAIR_BYTES;
  }

  private static int reader(int index) {
    return READER_BASE + index * READER_BYTES;
  }
}
