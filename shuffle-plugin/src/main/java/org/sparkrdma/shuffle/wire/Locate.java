// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.regex.Pattern;

/**
 * LOCATE: a reader requests the addresses of blocks and releases leases.
 *
 * <pre>
 *   0               1               2               3
 *  +---------------+---------------+---------------+---------------+
 *  | type = 1      | reserved = 0  | released leases (16 bit)      |
 *  +---------------+---------------+---------------+---------------+
 *  | blocks (16 bit)               | reserved = 0                  |
 *  +---------------------------------------------------------------+
 *  | request id (64 bit)                                           |
 *  +---------------------------------------------------------------+
 *  | time-out in milliseconds (32 bit) | owner (32 bit)            |
 *  +---------------------------------------------------------------+
 *  | released leases: 64 bit each                                  |
 *  +---------------------------------------------------------------+
 *  | blocks, 32 bytes each:                                        |
 *  |   map id (64 bit) | start offset in bytes (64 bit)            |
 *  |   shuffle id (32) | start reduce id (32) | end reduce id (32) |
 *  |   flags (32 bit): 1 computed checksums, 2 no copy             |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <p>With the first flag set the server computes the block's checksums instead of sending the
 * recorded ones; with the second one it tells the length of what it would have to copy. A start
 * offset above 0 requests the rest of a block whose beginning was answered before. The time-out is
 * how long the reader waits for the answer, whatever the lease's own time. The server answers at
 * half of it with what is ready. The owner is {@link #OWN}, or the executor that has written the
 * map outputs and has ended, see {@link #owner(String)}: the server reads them where the shuffle
 * service says. All fields little-endian. Answered by one {@link Located}, whose lengths and ranges
 * its decoder checks, and whose blocks the reader checks against this request ({@code
 * LocateAnswers}).
 */
public final class Locate {
  /** Bytes before the leases. */
  public static final int HEADER_BYTES = 24;

  /** Length of one released lease. */
  public static final int LEASE_BYTES = 8;

  /** Length of one requested block. */
  public static final int BLOCK_BYTES = 32;

  /** Owner of blocks that the server itself has written. */
  public static final int OWN = 0;

  private static final int LEASES_AT = 2;
  private static final int BLOCKS_AT = 4;
  private static final int REQUEST_ID_AT = 8;
  private static final int TIMEOUT_AT = 16;
  private static final int OWNER_AT = 20;
  private static final Pattern NUMBER = Pattern.compile("0|[1-9][0-9]{0,8}");
  private static final int FRESH_SUMS = 1;
  private static final int NO_COPY = 2;

  private final ByteBuffer in;
  private final int leases;
  private final int blocks;

  private Locate(ByteBuffer in, int leases, int blocks) {
    this.in = in;
    this.leases = leases;
    this.blocks = blocks;
  }

  /**
   * Views the message that fills {@code message} from its position to its limit.
   *
   * @throws MalformedMessageException when counts, length or ranges are wrong
   */
  public static Locate decode(ByteBuffer message) {
    ByteBuffer in = Messages.view(Messages.LOCATE, message, HEADER_BYTES);
    int leases = Short.toUnsignedInt(in.getShort(LEASES_AT));
    int blocks = Short.toUnsignedInt(in.getShort(BLOCKS_AT));
    if (blocks == 0
        || in.getInt(TIMEOUT_AT) < 0
        || in.getInt(OWNER_AT) < OWN
        || in.remaining() != HEADER_BYTES + leases * LEASE_BYTES + blocks * BLOCK_BYTES) {
      throw new MalformedMessageException(
          "bad LOCATE: lengthBytes=" + in.remaining() + " leases=" + leases + " blocks=" + blocks);
    }
    Locate locate = new Locate(in, leases, blocks);
    for (int i = 0; i < blocks; i++) {
      int start = locate.startReduceId(i);
      if (start < 0
          || locate.endReduceId(i) <= start
          || locate.shuffleId(i) < 0
          || locate.mapId(i) < 0
          || locate.startOffset(i) < 0
          || (locate.flags(i) & ~(FRESH_SUMS | NO_COPY)) != 0) {
        throw new MalformedMessageException("bad LOCATE: block=" + i);
      }
    }
    return locate;
  }

  /** The owner with Spark's id of an executor; {@link #OWN} where the id is no number like 17. */
  public static int owner(String executorId) {
    return NUMBER.matcher(executorId).matches() ? Integer.parseInt(executorId) + 1 : OWN;
  }

  /** Spark's id of an owner that is not {@link #OWN}. */
  public static String executorId(int owner) {
    return Integer.toString(owner - 1);
  }

  /** Number of leases that a LOCATE releases, before it is decoded; 0 when it is too short. */
  public static int releasedLeases(ByteBuffer message) {
    return message.remaining() < HEADER_BYTES ? 0 : unsignedShort(message, LEASES_AT);
  }

  private static int unsignedShort(ByteBuffer message, int offset) {
    int at = message.position() + offset;
    return Byte.toUnsignedInt(message.get(at)) | Byte.toUnsignedInt(message.get(at + 1)) << 8;
  }

  /** Chosen by the reader; repeated in the answer. */
  public long requestId() {
    return in.getLong(REQUEST_ID_AT);
  }

  /** Maximum wait of the reader for the answer, in milliseconds. */
  public int timeoutMs() {
    return in.getInt(TIMEOUT_AT);
  }

  /** The executor that has written the map outputs of all blocks. */
  public int owner() {
    return in.getInt(OWNER_AT);
  }

  /** Number of released leases. */
  public int leaseCount() {
    return leases;
  }

  /** Id of the {@code i}-th released lease. */
  public long leaseId(int i) {
    return in.getLong(HEADER_BYTES + i * LEASE_BYTES);
  }

  /** Number of requested blocks; at least 1. */
  public int blockCount() {
    return blocks;
  }

  private int at(int i) {
    return HEADER_BYTES + leases * LEASE_BYTES + i * BLOCK_BYTES;
  }

  /** Map id of block {@code i}. */
  public long mapId(int i) {
    return in.getLong(at(i));
  }

  /** Start offset in block {@code i}, in bytes. */
  public long startOffset(int i) {
    return in.getLong(at(i) + 8);
  }

  /** Shuffle id of block {@code i}. */
  public int shuffleId(int i) {
    return in.getInt(at(i) + 16);
  }

  /** First reduce partition of block {@code i}. */
  public int startReduceId(int i) {
    return in.getInt(at(i) + 20);
  }

  /** One past the last reduce partition of block {@code i}. */
  public int endReduceId(int i) {
    return in.getInt(at(i) + 24);
  }

  /** Whether the recorded checksums of block {@code i} are unusable. */
  public boolean freshSums(int i) {
    return (flags(i) & FRESH_SUMS) != 0;
  }

  /** Whether the reader has no memory for block {@code i}: it must not be copied. */
  public boolean noCopy(int i) {
    return (flags(i) & NO_COPY) != 0;
  }

  private int flags(int i) {
    return in.getInt(at(i) + 28);
  }

  /** Writes a LOCATE into a buffer: begin, then leases, then blocks, then finish. */
  public static final class Encoder {
    private ByteBuffer out;
    private int leases;
    private int blocks;

    /**
     * Begins a message at index 0 of {@code target}, which is kept until {@link #finish}.
     *
     * @param timeoutMs how long the reader waits for the answer, in milliseconds
     * @param owner of the map outputs of all blocks
     */
    public Encoder begin(ByteBuffer target, long requestId, int timeoutMs, int owner) {
      out = target.order(ByteOrder.LITTLE_ENDIAN).clear();
      leases = 0;
      blocks = 0;
      out.putLong(Messages.LOCATE).putLong(requestId);
      out.putInt(timeoutMs).putInt(owner);
      return this;
    }

    /** Releases a lease; before the first block. */
    public void lease(long leaseId) {
      out.putLong(leaseId);
      leases++;
    }

    /** Requests a block from {@code startOffset} on. */
    public void block(
        int shuffleId,
        long mapId,
        int startReduceId,
        int endReduceId,
        long startOffset,
        boolean freshSums,
        boolean noCopy) {
      out.putLong(mapId).putLong(startOffset);
      out.putInt(shuffleId).putInt(startReduceId).putInt(endReduceId);
      out.putInt((freshSums ? FRESH_SUMS : 0) | (noCopy ? NO_COPY : 0));
      blocks++;
    }

    /** Ends the message; returns its length in bytes. */
    public int finish() {
      out.putShort(LEASES_AT, (short) leases).putShort(BLOCKS_AT, (short) blocks);
      return out.position();
    }
  }
}
