// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

/**
 * All counters of the plug-in; the label is the key in reports and in Spark's metrics. The comment
 * of each is its meaning in docs/metrics.md.
 */
public enum Counter {
  /** Bytes delivered to tasks by RDMA READ. */
  RDMA_BYTES_READ("rdma.bytes.read"),
  /** Blocks delivered to tasks by RDMA READ. */
  RDMA_BLOCKS_READ("rdma.blocks.read"),
  /** Bytes of broadcast variables read by RDMA READ. */
  BROADCAST_BYTES_READ("broadcast.bytes.read"),
  /**
   * Bytes of executors that have ended or do not answer, read by RDMA READ from another one on
   * their host.
   */
  ENDED_BYTES_READ("ended.bytes.read"),
  /** RDMA READs posted. */
  RDMA_READS_POSTED("rdma.reads.posted"),
  /** Bytes delivered to tasks over TCP through the plug-in. */
  TCP_BYTES_READ("tcp.bytes.read"),
  /** Blocks delivered to tasks over TCP through the plug-in. */
  TCP_BLOCKS_READ("tcp.blocks.read"),
  /** Bytes delivered to tasks over TCP although this executor and the peer use RDMA. */
  FALLBACK_BYTES_READ("tcp.bytes.fallback"),
  /** Bytes that RDMA READs brought too late, when TCP was already asked for them. */
  HEDGED_BYTES("tcp.bytes.hedged"),
  /** Blocks whose checksum matched. */
  BLOCKS_VERIFIED("verify.blocks"),
  /** Blocks delivered without verification because no usable checksum exists. */
  BLOCKS_UNVERIFIED("verify.unverified"),
  /** Blocks with correct bytes and a wrong recorded checksum. */
  CHECKSUMS_UNUSABLE("verify.unusable-sums"),
  /** Blocks whose bytes differed between RDMA and TCP. */
  BLOCKS_CORRUPT("verify.corrupt"),
  /** Blocks that waited for receive memory. */
  MEMORY_WAITS("receive.waits"),
  /** Blocks that waited for receive memory in vain while a task waited for them. */
  MEMORY_WAITS_IN_VAIN("receive.waits.vain"),
  /** Connections established, by either side. */
  CONNECTIONS_ESTABLISHED("connections.established"),
  /** Connections that ended. */
  CONNECTIONS_CLOSED("connections.closed"),
  /** Refused connection requests of peers. */
  CONNECTIONS_REFUSED("connections.refused"),
  /** Quarantines of peers, because waits for them were in vain. */
  PEERS_QUARANTINED("peers.quarantined"),
  /** Times that a peer made no progress while blocks waited for it. */
  PEERS_SUSPECT("peers.suspect"),
  /** Milliseconds for which blocks waited for peers in vain before they used TCP. */
  PEER_WAITS_IN_VAIN("peers.waits.vain"),
  /** LOCATE messages answered for peers. */
  LOCATES_SERVED("serve.locates"),
  /** LOCATE messages dropped because their connection had ended. */
  LOCATES_DROPPED("serve.dropped"),
  /** LOCATE messages answered with "fetch over TCP" because they had to wait too long. */
  LOCATES_OVERLOADED("serve.overloaded"),
  /** LOCATE messages that waited for memory to serve from. */
  SERVE_WAITS("serve.waits"),
  /** LOCATE messages that waited for memory to serve from until their time was over. */
  SERVE_WAITS_VAIN("serve.waits.vain"),
  /** Indexes of map outputs read whole, to be kept. */
  INDEXES_READ("serve.indexes.read"),
  /** Blocks for which a part of an index was read, because no more indexes fit. */
  INDEX_PARTS_READ("serve.indexes.part"),
  /** Bytes located for peers. */
  SERVE_BYTES("serve.bytes"),
  /** Bytes of map-output files registered. */
  SERVE_BYTES_REGISTERED("serve.bytes.registered"),
  /** Parts of blocks served from windows. */
  EXTENTS_FROM_WINDOWS("serve.pieces.window"),
  /** Parts of blocks served from copies. */
  EXTENTS_FROM_COPIES("serve.pieces.copy"),
  /** Bytes served from copies. */
  BYTES_FROM_COPIES("serve.bytes.copy"),
  /** Blocks answered with "fetch over TCP". */
  BLOCKS_SENT_TO_TCP("serve.by-tcp"),
  /** File windows registered. */
  WINDOWS_REGISTERED("serve.windows.registered"),
  /** File windows evicted to make room. */
  WINDOWS_EVICTED("serve.windows.evicted"),
  /** File windows deregistered after the idle time-out. */
  WINDOWS_RETURNED("serve.windows.returned"),
  /** Leases that expired before their release. */
  LEASES_EXPIRED("serve.leases.expired"),
  /** LOCATE messages of connections that had all the leases they may have. */
  PEERS_LIMITED("serve.limited"),
  /** Messages that violated the protocol. */
  PROTOCOL_ERRORS("protocol.errors");

  private final String label;

  Counter(String label) {
    this.label = label;
  }

  /** Its key in reports and metrics. */
  public String label() {
    return label;
  }
}
