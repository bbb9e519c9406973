// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

/**
 * Reason why blocks were fetched over TCP although the plug-in is on; users see the label. The
 * comment of each has its meaning and its remedy in docs/troubleshooting.md. {@code
 * RdmaBlockClient} gives the reasons of blocks that are not tried by RDMA, {@code FetchPeers} those
 * of a peer without a connection.
 */
public enum FallbackReason {
  /**
   * This executor has no RDMA.
   *
   * <p>To do: Find its WARN; {@code doctor} on that host names each cause.
   */
  UNAVAILABLE("unavailable"),

  /**
   * The peer has no RDMA or has ended, or the driver did not answer in time.
   *
   * <p>To do: Nothing when executors end; otherwise find executors without RDMA.
   */
  NO_ENDPOINT("no-endpoint"),

  /**
   * The peer uses another engine or protocol version.
   *
   * <p>To do: Use one jar and one engine on all hosts.
   */
  INCOMPATIBLE("incompatible"),

  /**
   * The peer refused the connection, or its proof failed.
   *
   * <p>To do: Nothing when executors restarted; otherwise see the peer's log.
   */
  REFUSED("refused"),

  /**
   * No connection in time: the peer is unreachable, or one side is at {@code connections.max}.
   *
   * <p>To do: Run {@code doctor --peer}; raise {@code connections.max} if {@code
   * rdma.connections.refused} grows at peers.
   */
  CONNECT_FAILED("connect-failed"),

  /**
   * The peer makes no progress.
   *
   * <p>To do: Check for slow disks and pauses at the peer, packet loss and congestion.
   */
  SLOW_PEER("slow-peer"),

  /**
   * Waits for the peer, or for many peers, were in vain, so RDMA pauses for it.
   *
   * <p>To do: See the WARN {@code Quarantining peer}, which has the reason.
   */
  QUARANTINED("quarantined"),

  /**
   * A READ or a message completed with an error.
   *
   * <p>To do: Check the error counters of the port.
   */
  READ_ERROR("read-error"),

  /**
   * No LOCATE or READ could be sent within {@code request.timeout}, or a lease ended too soon.
   *
   * <p>To do: Check for slow disks at the peer, packet loss and congestion.
   */
  TIMEOUT("timeout"),

  /**
   * The connection ended during the request.
   *
   * <p>To do: Check whether the peer ended; if not, see its log.
   */
  LOST_PEER("lost-peer"),

  /**
   * The peer had no memory to register or copy, or the reader used up its share.
   *
   * <p>To do: Raise {@code pinned.max}; it does not help where files are copied.
   */
  PEER_BUSY("peer-busy"),

  /**
   * The peer had not loaded the block in time.
   *
   * <p>To do: Check for slow disks at the peer; more local directories help.
   */
  PEER_OVERLOADED("peer-overloaded"),

  /**
   * The peer could not find or read the block.
   *
   * <p>To do: Nothing: TCP brings the block, or Spark recomputes lost map outputs.
   */
  PEER_UNKNOWN_BLOCK("peer-unknown-block"),

  /**
   * No receive memory in time, a block too large, or no memory to connect.
   *
   * <p>To do: Raise {@code pinned.max}, or use more partitions.
   */
  POOL_EMPTY("pool-empty"),

  /**
   * The checksum did not match, and TCP delivered other bytes or none.
   *
   * <p>To do: Check the memory and the card of both hosts.
   */
  CORRUPT("corrupt"),

  /**
   * The recorded checksum did not match, and TCP delivered the same bytes.
   *
   * <p>To do: If it repeats, check the disk and the memory of the peer.
   */
  CHECKSUM_UNUSABLE("checksum-unusable"),

  /**
   * The peer violated the protocol.
   *
   * <p>To do: Report it, with the logs of both executors.
   */
  PROTOCOL_ERROR("protocol-error"),

  /**
   * Spark wants the block on disk ({@code spark.network.maxRemoteBlockSizeFetchToMem}).
   *
   * <p>To do: Nothing: it is normal for large blocks.
   */
  DISK("disk"),

  /**
   * The executor was stopping, or had lost its device, port or agent.
   *
   * <p>To do: Nothing when the executor ended; otherwise see its log.
   */
  STOPPED("stopped");

  private final String label;

  FallbackReason(String label) {
    this.label = label;
  }

  /** Name in counters, logs and reports. */
  public String label() {
    return label;
  }

  /** Whether the reader or its peer has no RDMA, so that the blocks are no failures of RDMA. */
  public boolean isWithoutRdma() {
    return this == UNAVAILABLE || this == NO_ENDPOINT;
  }

  /** Whether the peer may have withdrawn its endpoint. */
  public boolean suggestsAChange() {
    return this == REFUSED || this == CONNECT_FAILED || this == LOST_PEER || this == TIMEOUT;
  }
}
