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
package org.sparkrdma.shuffle.metrics;

/** Every number the plug-in counts; the label is its key in reports and in Spark's metrics. */
public enum Counter {
  /** Bytes handed to tasks that came by RDMA READ. */
  RDMA_BYTES_READ("rdma.bytes.read"),
  /** Blocks handed to tasks that came by RDMA READ. */
  RDMA_BLOCKS_READ("rdma.blocks.read"),
  /** RDMA READs posted. */
  RDMA_READS_POSTED("rdma.reads.posted"),
  /** Bytes handed to tasks that our client fetched by TCP. */
  TCP_BYTES_READ("tcp.bytes.read"),
  /** Blocks handed to tasks that our client fetched by TCP. */
  TCP_BLOCKS_READ("tcp.blocks.read"),
  /** Blocks whose checksum matched. */
  BLOCKS_VERIFIED("verify.blocks"),
  /** Blocks delivered without a check because no usable checksum exists. */
  BLOCKS_UNVERIFIED("verify.unverified"),
  /** Blocks whose recorded checksum was wrong while their bytes were right. */
  CHECKSUMS_UNUSABLE("verify.unusable-sums"),
  /** Blocks that RDMA brought differently from TCP. */
  BLOCKS_CORRUPT("verify.corrupt"),
  /** Connections established, whoever began them. */
  CONNECTIONS_ESTABLISHED("connections.established"),
  /** Connections that ended. */
  CONNECTIONS_CLOSED("connections.closed"),
  /** Connection requests of peers that were refused. */
  CONNECTIONS_REFUSED("connections.refused"),
  /** How often a peer was left alone for a while. */
  PEERS_QUARANTINED("peers.quarantined"),
  /** LOCATE messages answered for peers. */
  LOCATES_SERVED("serve.locates"),
  /** Block pieces that peers were told to READ out of registered files. */
  PIECES_FROM_WINDOWS("serve.pieces.window"),
  /** Block pieces that peers were told to READ out of the copy pool. */
  PIECES_FROM_SLOTS("serve.pieces.copy"),
  /** Blocks that peers were told to fetch by TCP. */
  BLOCKS_SENT_TO_TCP("serve.by-tcp"),
  /** File windows registered. */
  WINDOWS_REGISTERED("serve.windows.registered"),
  /** File windows given back to make room. */
  WINDOWS_EVICTED("serve.windows.evicted"),
  /** File windows given back because nobody read them for long. */
  WINDOWS_RETURNED("serve.windows.returned"),
  /** Leases that ran out before they were given back. */
  LEASES_EXPIRED("serve.leases.expired"),
  /** LOCATE messages of peers that held their share already, and so were refused something. */
  PEERS_LIMITED("serve.limited"),
  /** Messages of peers that broke the protocol. */
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
