// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.broadcast;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.storage.BroadcastBlockId;

/**
 * The pieces of one broadcast variable, and the chunks of neighbouring pieces in which they travel.
 * Immutable.
 *
 * @param id of the broadcast variable
 * @param pieceBytes length of each piece but the last
 * @param lastBytes length of the last piece
 * @param sums CRC32C of each piece; not changed
 */
record Pieces(long id, int pieceBytes, int lastBytes, long[] sums) {
  /** Maximum number of chunks: each costs every executor one message to the driver. */
  static final int MAX_CHUNKS = 16;

  /** Prefix of a piece's field in Spark's block ids. */
  static final String FIELD = "piece";

  /** Stands for broadcast variables in the names of blocks; Spark counts its shuffles from 0. */
  static final int SHUFFLE_ID = Integer.MAX_VALUE;

  private static final int PIECE_BITS = 20;

  Pieces {
    if (pieceBytes <= 0 || lastBytes <= 0 || lastBytes > pieceBytes) {
      throw new IllegalArgumentException(
          "bad pieces: pieceBytes=" + pieceBytes + " lastBytes=" + lastBytes);
    }
    if (sums.length == 0 || sums.length >= 1 << PIECE_BITS) {
      throw new IllegalArgumentException("bad pieces: count=" + sums.length);
    }
  }

  /** Number of pieces. */
  int count() {
    return sums.length;
  }

  /** Number of pieces of each chunk but the last. */
  private int chunkPieces() {
    return (count() + MAX_CHUNKS - 1) / MAX_CHUNKS;
  }

  /** Number of chunks. */
  int chunks() {
    return (count() + chunkPieces() - 1) / chunkPieces();
  }

  /** First piece of a chunk; for {@link #chunks()}, the number of pieces. */
  int firstPiece(int chunk) {
    return Math.min(count(), chunk * chunkPieces());
  }

  /** Length of a piece in bytes. */
  int lengthBytes(int piece) {
    return piece == count() - 1 ? lastBytes : pieceBytes;
  }

  /** Length of all pieces in bytes. */
  long lengthBytes() {
    return (count() - 1L) * pieceBytes + lastBytes;
  }

  /** A piece in Spark. */
  static BroadcastBlockId block(long id, int piece) {
    return new BroadcastBlockId(id, FIELD + piece);
  }

  /** A block in Spark that is removed with the pieces. */
  static BroadcastBlockId mark(long id) {
    return new BroadcastBlockId(id, "rdma");
  }

  /** Stands for the map id of a piece. */
  static long mapId(long id, int piece) {
    return id << PIECE_BITS | piece;
  }

  /** The piece with a map id. */
  static BroadcastBlockId block(long mapId) {
    return block(mapId >>> PIECE_BITS, (int) (mapId & ((1 << PIECE_BITS) - 1)));
  }

  /** The message to an executor, in JDK types. */
  List<Serializable> encode() {
    return new ArrayList<>(List.of(id, pieceBytes, lastBytes, sums));
  }

  /**
   * The pieces of {@link #encode}.
   *
   * @throws IllegalArgumentException when it is something else
   */
  static Pieces decode(Object message) {
    if (message instanceof List<?> fields
        && fields.size() == 4
        && fields.get(0) instanceof Long id
        && fields.get(1) instanceof Integer pieceBytes
        && fields.get(2) instanceof Integer lastBytes
        && fields.get(3) instanceof long[] sums) {
      return new Pieces(id, pieceBytes, lastBytes, sums);
    }
    throw new IllegalArgumentException("not the pieces of a broadcast variable");
  }
}
