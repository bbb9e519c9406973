// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.EnumSet;
import java.util.Set;
import org.sparkrdma.memory.OpenDevice;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.settings.ExecutorNeeds;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.TransportType;

/**
 * Limits what a transport pins and has in flight: receive memory ({@link
 * org.sparkrdma.shuffle.fetch.ReceiveMemory}), bytes of READs ({@link ReadsInFlight}), and buffers
 * of messages ({@link MessageBuffers}).
 *
 * @param limitBytes limit of the budget
 */
public record MemoryPlan(TransportSettings settings, long limitBytes) {
  /** Entries of a completion queue that a reader's connection takes. */
  static final int READER_ENTRIES = ReadConnection.SEND_DEPTH + ReadConnection.RECEIVES;

  /** Six of the reader's end, three of the server's, and one of its set-up. */
  private static final int MAX_BUFFERS_PER_PEER = 10;

  private static final int MIN_MESSAGES = 16;

  /** Chunks of copies: one for each of the readers that share them. */
  private static final long MIN_COPIES = 4;

  private static final int REGION_BYTES = 4 << 20;

  /** Part of the budget that receive memory leaves to others. */
  private static final int SERVE_PART = 8;

  /**
   * Rejects a limit under which nothing could be read or served.
   *
   * @throws VerbsException that names the setting to raise
   */
  public void require(ServeSettings serve) throws VerbsException {
    boolean sends = limitBytes >= MIN_MESSAGES * MessageBuffers.MESSAGE_BYTES;
    boolean reads = receiveBytes() >= 2L * settings.chunkBytes();
    boolean serves = limitBytes - receiveKeptBytes() >= MIN_COPIES * serve.chunkBytes();
    if (sends && reads && serves) {
      return;
    }
    throw new VerbsException(
        "register",
        "the memory that this executor may pin, "
            + limitBytes
            + " bytes, is too little: raise spark.shuffle.rdma.pinned.max");
  }

  /** Objects and memory that a transport with one connection has on a device, at least. */
  public ExecutorNeeds needs(Device device) {
    int depth = CompletionQueues.depth(device, READER_ENTRIES);
    return new ExecutorNeeds(
        depth,
        ReadConnection.SEND_DEPTH,
        ReadConnection.RECEIVES,
        CompletionQueues.ringBytes(depth)
            + CompletionQueues.queuePairBytes(ReadConnection.SEND_DEPTH, ReadConnection.RECEIVES),
        MessageBuffers.BUFFERS_PER_REGION * MessageBuffers.MESSAGE_BYTES
            + (long) chunksPerRegion() * settings.chunkBytes());
  }

  /** Maximum number of buffers of messages of all connections together. */
  int maxBuffers() {
    return settings.maxConnections() * MAX_BUFFERS_PER_PEER;
  }

  /** Maximum receive memory. */
  long receiveBytes() {
    return Math.min(settings.poolBytes(), limitBytes - limitBytes / SERVE_PART);
  }

  /** Receive memory that leases of slow peers leave to this executor's readers. */
  long receiveKeptBytes() {
    return receiveBytes() / 2;
  }

  /** Maximum bytes of posted READs; the longest READ is one chunk. */
  long maxReadBytesInFlight() {
    return Math.max(settings.readBytesInFlight(), settings.chunkBytes());
  }

  /** Creates the pool of receive memory, in which nothing is registered yet. */
  RegisteredPool receivePool(OpenDevice on) {
    return new RegisteredPool(
        on,
        receiveAccess(on.device().info().transport()),
        settings.chunkBytes(),
        chunksPerRegion(),
        receiveBytes());
  }

  /** Chunks of receive memory that are registered with one call. */
  private int chunksPerRegion() {
    long regionBytes = Math.min(REGION_BYTES, receiveBytes() / 4);
    return (int) Math.max(1, regionBytes / settings.chunkBytes());
  }

  private Set<AccessFlag> receiveAccess(TransportType transport) {
    EnumSet<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE);
    if (transport == TransportType.IWARP) {
      // RFC 5040, section 5.2: the sink of a READ is written by the peer's RDMA READ Response.
      access.add(AccessFlag.REMOTE_WRITE);
    }
    if (settings.relaxedOrdering()) {
      access.add(AccessFlag.RELAXED_ORDERING);
    }
    return access;
  }
}
