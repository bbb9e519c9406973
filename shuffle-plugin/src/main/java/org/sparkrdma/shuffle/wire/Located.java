// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/**
 * LOCATED: the addresses of the blocks of a {@link Locate}, piece by piece, and the duration of
 * their lease.
 *
 * <pre>
 *   0               1               2               3
 *  +---------------+---------------+---------------+---------------+
 *  | type = 2      | checksum kind | pieces (16 bit)               |
 *  +---------------+---------------+---------------+---------------+
 *  | lease: remaining milliseconds (32 bit)                        |
 *  +---------------------------------------------------------------+
 *  | request id (64 bit)                                           |
 *  +---------------------------------------------------------------+
 *  | lease id (64 bit), 0 when nothing is leased                   |
 *  +---------------------------------------------------------------+
 *  | pieces, each 44 bytes and its sums:                           |
 *  |   block's index in the LOCATE (16 bit)                        |
 *  |   kind (8 bit: 0 located, 1 busy, 2 unknown, 3 overloaded,    |
 *  |   4 not copied)                                               |
 *  |   flags (8 bit): 1 a copy                                     |
 *  |   sums (32 bit)                                               |
 *  |   address (64 bit)     | remote key (64 bit)                  |
 *  |   offset of the piece in the block (64 bit)                   |
 *  |   length of the whole block (64 bit) | length (32 bit)        |
 *  |   sums, 16 bytes each: offset in the block of the end of a    |
 *  |   reduce partition (64 bit), its checksum (64 bit)            |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <p>Pieces are in the order of the requested blocks, and those of one block in the order of their
 * offsets, without gaps. The answer may leave out blocks and the rest of a block: the reader
 * requests them again. A piece that is not located stands for the rest of its block, which must be
 * fetched by TCP. A checksum belongs to the partition that ends in its piece; empty partitions have
 * none.
 *
 * <p>All fields little-endian. In the code a piece is an extent, since piece is Spark's word for a
 * part of a broadcast variable.
 */
public final class Located {
  /** Bytes before the extents. */
  public static final int HEADER_BYTES = 24;

  /** Bytes of an extent without its sums. */
  public static final int EXTENT_BYTES = 44;

  /** Bytes of one sum. */
  public static final int SUM_BYTES = 16;

  /** An answer that has located so many bytes is full: more would only hold memory for longer. */
  public static final long MAX_LOCATED_BYTES = 16L << 20;

  /** {@link Decoder#checksumKind()} when there are no sums; 1 is ADLER32, 2 CRC32, 3 CRC32C. */
  public static final int NO_CHECKSUM = 0;

  /** The fastest, used for computed checksums by default. */
  public static final int CRC32C_KIND = 3;

  /** Kind of an extent. */
  public enum Kind {
    /** Readable at its address. */
    LOCATED(0),
    /** The server has no memory now; fetch by TCP. */
    BUSY(1),
    /** The server cannot find or read the block; fetch by TCP. */
    UNKNOWN(2),
    /** Too many requests wait at the server; fetch by TCP. */
    OVERLOADED(3),
    /** It would have to be copied, which the request forbids: only its length is told. */
    NOT_COPIED(4);

    private final byte code;

    Kind(int code) {
      this.code = (byte) code;
    }
  }

  private static final int EXTENTS_AT = 2;
  private static final int REMAINING_AT = 4;
  private static final int LEASE_AT = 16;
  private static final byte COPIED = 1;
  private static final Kind[] KINDS = Kind.values();
  private static final int MAX_CHECKSUM_KIND = 3;

  private Located() {}

  /** Bytes of an extent with so many sums. */
  public static int extentBytes(int sums) {
    return EXTENT_BYTES + sums * SUM_BYTES;
  }

  /** Kind of checksums by Spark's name of their algorithm. */
  public static int checksumKind(String algorithm) {
    return switch (algorithm) {
      case "ADLER32" -> 1;
      case "CRC32" -> 2;
      case "CRC32C" -> CRC32C_KIND;
      default -> NO_CHECKSUM;
    };
  }

  /** A new checksum; null for {@link #NO_CHECKSUM}. */
  public static Checksum newChecksum(int kind) {
    return switch (kind) {
      case 1 -> new Adler32();
      case 2 -> new CRC32();
      case CRC32C_KIND -> new CRC32C();
      default -> null;
    };
  }

  /** Whether the LOCATED at index 0 has a lease. */
  public static boolean hasLease(ByteBuffer answer) {
    return answer.getLong(LEASE_AT) != 0;
  }

  /** Reads a LOCATED from front to back; reusable, allocates nothing but a view of the message. */
  public static final class Decoder {
    private ByteBuffer in;
    private int extentsLeft;
    private int extent;
    private int next;

    /**
     * Begins with the message that fills {@code message} from its position to its limit.
     *
     * @throws MalformedMessageException when it is too short or not a LOCATED
     */
    public Decoder begin(ByteBuffer message) {
      in = Messages.view(Messages.LOCATED, message, HEADER_BYTES);
      extentsLeft = Short.toUnsignedInt(in.getShort(EXTENTS_AT));
      next = HEADER_BYTES;
      if (checksumKind() > MAX_CHECKSUM_KIND || leaseRemainingMs() < 0) {
        throw new MalformedMessageException("bad LOCATED: checksumKind=" + checksumKind());
      }
      return this;
    }

    /** Kind of the sums, see {@link Located#NO_CHECKSUM}. */
    public int checksumKind() {
      return Byte.toUnsignedInt(in.get(1));
    }

    /** Remaining milliseconds of the lease when the message was written. */
    public int leaseRemainingMs() {
      return in.getInt(REMAINING_AT);
    }

    /** The request id of the LOCATE. */
    public long requestId() {
      return in.getLong(8);
    }

    /** The lease over all located extents; 0 when nothing is leased. */
    public long leaseId() {
      return in.getLong(LEASE_AT);
    }

    /**
     * Moves to the next extent.
     *
     * @return false when there is none
     * @throws MalformedMessageException when the message ends too early or too late, or a field is
     *     out of range
     */
    public boolean nextExtent() {
      if (extentsLeft == 0) {
        if (next != in.limit()) {
          throw new MalformedMessageException("bad LOCATED: lengthBytes=" + in.limit());
        }
        return false;
      }
      extentsLeft--;
      extent = next;
      if (in.limit() - extent < EXTENT_BYTES) {
        throw new MalformedMessageException("bad LOCATED: truncated extent");
      }
      int sums = sumCount();
      if (sums < 0 || sums > (in.limit() - extent - EXTENT_BYTES) / SUM_BYTES) {
        throw new MalformedMessageException("bad LOCATED: sums=" + sums);
      }
      next = extent + extentBytes(sums);
      checkExtent();
      return true;
    }

    private void checkExtent() {
      int kind = Byte.toUnsignedInt(in.get(extent + 2));
      long end = blockOffset() + lengthBytes();
      if (kind >= KINDS.length
          || blockOffset() < 0
          || lengthBytes() < 0
          || end < 0
          || (KINDS[kind] == Kind.LOCATED && end > blockBytes())) {
        throw new MalformedMessageException("bad LOCATED: kind=" + kind);
      }
      long before = blockOffset();
      for (int i = 0; i < sumCount(); i++) {
        if (sumEnd(i) <= before || sumEnd(i) > end) {
          throw new MalformedMessageException("bad LOCATED: sum=" + i);
        }
        before = sumEnd(i);
      }
    }

    /** Index in the LOCATE of this extent's block. */
    public int blockIndex() {
      return Short.toUnsignedInt(in.getShort(extent));
    }

    /** Kind of this extent. */
    public Kind kind() {
      return KINDS[in.get(extent + 2)];
    }

    /** Whether the server has copied it, so that the READ reads the copy. */
    public boolean isCopied() {
      return (in.get(extent + 3) & COPIED) != 0;
    }

    /** Number of checksums of this extent. */
    public int sumCount() {
      return in.getInt(extent + 4);
    }

    /** Address to READ from. */
    public long address() {
      return in.getLong(extent + 8);
    }

    /** The key to READ with. */
    public long remoteKey() {
      return in.getLong(extent + 16);
    }

    /** Length of this extent in bytes. */
    public int lengthBytes() {
      return in.getInt(extent + 40);
    }

    /** Offset of this extent in its block, in bytes. */
    public long blockOffset() {
      return in.getLong(extent + 24);
    }

    /** Length of the whole block in bytes. */
    public long blockBytes() {
      return in.getLong(extent + 32);
    }

    /** Offset in the block of the end of the {@code i}-th partition summed. */
    public long sumEnd(int i) {
      return in.getLong(extent + EXTENT_BYTES + i * SUM_BYTES);
    }

    /** Checksum of the {@code i}-th partition summed. */
    public long sum(int i) {
      return in.getLong(extent + EXTENT_BYTES + i * SUM_BYTES + 8);
    }
  }

  /** Writes a LOCATED into a buffer: begin, extents with their sums, finish. */
  public static final class Encoder {
    private ByteBuffer out;
    private int extents;
    private int extent;

    /** Begins a message at index 0 of {@code target}, which is kept until {@link #finish}. */
    public Encoder begin(ByteBuffer target, long requestId, int checksumKind) {
      out = target.order(ByteOrder.LITTLE_ENDIAN).clear();
      extents = 0;
      out.put((byte) Messages.LOCATED).put((byte) checksumKind).putShort((short) 0);
      out.putInt(0).putLong(requestId).putLong(0);
      return this;
    }

    /** Number of checksums that fit with another extent; negative when no extent fits. */
    public int roomForSums() {
      int room = out.remaining() - EXTENT_BYTES;
      return room < 0 || extents == 0xFFFF ? -1 : room / SUM_BYTES;
    }

    /** Bytes that the message has left. */
    public int roomBytes() {
      return out.remaining();
    }

    /** Adds an extent that can be read; exactly {@code sums} calls of {@link #sum} must follow. */
    public void located(
        int blockIndex,
        long address,
        long remoteKey,
        int lengthBytes,
        long blockOffset,
        long blockBytes,
        int sums) {
      extent(blockIndex, Kind.LOCATED, sums);
      out.putLong(address).putLong(remoteKey);
      out.putLong(blockOffset).putLong(blockBytes).putInt(lengthBytes);
    }

    /** Marks the extent just added, before its sums: it is a copy. */
    public void markCopied() {
      out.put(extent + 3, COPIED);
    }

    /** Adds a sum to the extent just added. */
    public void sum(long endInBlock, long sum) {
      out.putLong(endInBlock).putLong(sum);
    }

    /** Adds an extent that tells the length of a block that was not copied. */
    public void notCopied(int blockIndex, long blockBytes) {
      extent(blockIndex, Kind.NOT_COPIED, 0);
      out.putLong(0).putLong(0).putLong(0).putLong(blockBytes).putInt(0);
    }

    /** Adds an extent that stands for the rest of its block, which must be fetched by TCP. */
    public void byTcp(int blockIndex, Kind kind) {
      extent(blockIndex, kind, 0);
      out.putLong(0).putLong(0).putLong(0).putLong(0).putInt(0);
    }

    private void extent(int blockIndex, Kind kind, int sums) {
      extent = out.position();
      out.putShort((short) blockIndex).put(kind.code).put((byte) 0).putInt(sums);
      extents++;
    }

    /** Ends the message; returns its length in bytes. */
    public int finish(long leaseId, int leaseRemainingMs) {
      out.putShort(EXTENTS_AT, (short) extents).putInt(REMAINING_AT, leaseRemainingMs);
      out.putLong(LEASE_AT, leaseId);
      return out.position();
    }
  }
}
