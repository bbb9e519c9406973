// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.sparkrdma.verbs.WorkStatus;

/**
 * The posted receives of a queue pair, in memory that its owner and its one peer share. The owner
 * posts them; the peer writes its messages into their memory and delivers them, in order.
 *
 * <pre>
 *   0  magic, entries, maximum elements of an entry
 *  64  posted: number of receives that the owner has posted
 * 128  delivered: number of messages that the peer has delivered
 * 192  entries: status, flags, immediate data, elements (32 bit each), length of the message,
 *      length of the receive (64 bit each); then for each element address (64 bit), length, key
 * </pre>
 *
 * <p>An entry belongs to the peer from {@code posted} to {@code delivered}, and else to the owner.
 * A peer that ends between the two leaves a receive that is flushed with the connection. Both sides
 * check what the other one has written before they use it. The owner's thread posts; the rest needs
 * the lock of the device.
 */
public final class SharedReceives {
  public static final int WITH_IMMEDIATE = 1;

  /** The message is the notification of a WRITE. */
  public static final int WRITTEN = 2;

  /** The message is longer than the receive. */
  public static final int TOO_LONG = 1;

  /** The memory of the receive is not registered any more. */
  public static final int NOT_REGISTERED = 2;

  private static final long MAGIC = 0x53524f4654525131L;
  private static final int POSTED = 64;
  private static final int DELIVERED = 128;
  private static final int ENTRIES = 192;
  private static final int FLAGS = 4;
  private static final int IMMEDIATE = 8;
  private static final int COUNT = 12;
  private static final int MESSAGE_BYTES = 16;
  private static final int RECEIVE_BYTES = 24;
  private static final int ENTRY_BYTES = 32;
  private static final int LENGTH = 8;
  private static final int KEY = 12;
  private static final int ELEMENT_BYTES = 16;
  private static final int MAX_ENTRIES = 1 << 16;
  private static final int MAX_ELEMENTS = 64;

  private static final int SUCCESS = 0;

  private static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final ByteBuffer bytes;
  private final int mask;
  private final int maxElements;
  private final int stride;

  private SharedReceives(ByteBuffer bytes, int entries, int maxElements) {
    this.bytes = bytes.order(ByteOrder.LITTLE_ENDIAN);
    this.maxElements = maxElements;
    mask = entries - 1;
    stride = ENTRY_BYTES + maxElements * ELEMENT_BYTES;
  }

  private static long length(int entries, int maxElements) {
    return ENTRIES + (long) entries * (ENTRY_BYTES + maxElements * ELEMENT_BYTES);
  }

  /**
   * Creates them in a new file.
   *
   * @param entries a power of two
   */
  public static SharedReceives create(Path file, int entries, int maxElements) throws IOException {
    try (FileChannel channel = PrivateFiles.create(file)) {
      long length = length(entries, maxElements);
      PrivateFiles.fillWithZeros(channel, length);
      ByteBuffer bytes = channel.map(FileChannel.MapMode.READ_WRITE, 0, length);
      var receives = new SharedReceives(bytes, entries, maxElements);
      bytes.putInt(8, entries).putInt(12, maxElements);
      LONGS.setRelease(bytes, 0, MAGIC);
      return receives;
    }
  }

  /**
   * Opens those of a peer.
   *
   * @throws IOException when the file holds no receives
   */
  public static SharedReceives attach(Path file) throws IOException {
    try (FileChannel channel = PrivateFiles.open(file)) {
      long length = channel.size();
      if (length < ENTRIES || length > length(MAX_ENTRIES, MAX_ELEMENTS)) {
        throw new IOException("no receives of a queue pair: lengthBytes=" + length);
      }
      ByteBuffer bytes = channel.map(FileChannel.MapMode.READ_WRITE, 0, length);
      bytes.order(ByteOrder.LITTLE_ENDIAN);
      int entries = bytes.getInt(8);
      int elements = bytes.getInt(12);
      if ((long) LONGS.getAcquire(bytes, 0) != MAGIC
          || Integer.bitCount(entries) != 1
          || elements < 1
          || elements > MAX_ELEMENTS
          || length != length(entries, elements)) {
        throw new IOException("no receives of a queue pair: lengthBytes=" + length);
      }
      return new SharedReceives(bytes, entries, elements);
    }
  }

  private int entry(long position) {
    return ENTRIES + ((int) position & mask) * stride;
  }

  private int element(long position, int i) {
    return entry(position) + ENTRY_BYTES + i * ELEMENT_BYTES;
  }

  // Called by the owner.

  public void setElement(long position, int i, long address, int length, int key) {
    int at = element(position, i);
    bytes.putLong(at, address).putInt(at + LENGTH, length).putInt(at + KEY, key);
  }

  /** Posts the receive, whose elements are set. */
  public void post(long position, int elements, long lengthBytes) {
    int at = entry(position);
    bytes.putInt(at + COUNT, elements).putLong(at + RECEIVE_BYTES, lengthBytes);
    LONGS.setVolatile(bytes, POSTED, position + 1);
  }

  public boolean isDelivered(long position) {
    return (long) LONGS.getVolatile(bytes, DELIVERED) - position > 0;
  }

  /** The status of a delivered message in a receive of that length. */
  public WorkStatus status(long position, long lengthBytes) {
    return switch (bytes.getInt(entry(position))) {
      case SUCCESS ->
          (flags(position) & WRITTEN) != 0 || messageBytes(position) <= lengthBytes
              ? WorkStatus.SUCCESS
              : WorkStatus.LOCAL_LENGTH_ERROR;
      case NOT_REGISTERED -> WorkStatus.LOCAL_PROTECTION_ERROR;
      default -> WorkStatus.LOCAL_LENGTH_ERROR;
    };
  }

  public long messageBytes(long position) {
    return bytes.getLong(entry(position) + MESSAGE_BYTES);
  }

  public int flags(long position) {
    return bytes.getInt(entry(position) + FLAGS);
  }

  public int immediate(long position) {
    return bytes.getInt(entry(position) + IMMEDIATE);
  }

  // Called by the peer.

  public boolean isPosted(long position) {
    return (long) LONGS.getVolatile(bytes, POSTED) - position > 0;
  }

  public long receiveBytes(long position) {
    return bytes.getLong(entry(position) + RECEIVE_BYTES);
  }

  public int elements(long position) {
    return Math.min(bytes.getInt(entry(position) + COUNT), maxElements);
  }

  public long address(long position, int i) {
    return bytes.getLong(element(position, i));
  }

  public int length(long position, int i) {
    return bytes.getInt(element(position, i) + LENGTH);
  }

  public int key(long position, int i) {
    return bytes.getInt(element(position, i) + KEY);
  }

  /** Delivers a message whose bytes are in place. */
  public void deliver(long position, long lengthBytes, int flags, int immediate) {
    int at = entry(position);
    bytes.putInt(at + FLAGS, flags).putInt(at + IMMEDIATE, immediate);
    bytes.putLong(at + MESSAGE_BYTES, lengthBytes);
    publish(position, SUCCESS);
  }

  /** Gives the receive back, with the status of its message. */
  public void publish(long position, int status) {
    bytes.putInt(entry(position), status);
    LONGS.setVolatile(bytes, DELIVERED, position + 1);
  }
}
