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

/** Why blocks went by TCP although the plug-in is on; the label is what users see. */
public enum FallbackReason {
  /** RDMA is not used in this executor at all; Spark's own reader ran. */
  UNAVAILABLE("unavailable"),
  /** The directory knows no endpoint of the executor. */
  NO_ENDPOINT("no-endpoint"),
  /** The executor's endpoint is of another engine or version. */
  INCOMPATIBLE("incompatible"),
  /** The connection was refused, or the peer did not prove who it is. */
  REFUSED("refused"),
  /** No connection could be made. */
  CONNECT_FAILED("connect-failed"),
  /** The peer is left alone for a while after failures. */
  QUARANTINED("quarantined"),
  /** A work request ended with an error. */
  READ_ERROR("read-error"),
  /** The request did not end in time. */
  TIMEOUT("timeout"),
  /** The connection ended under the request, twice. */
  LOST_PEER("lost-peer"),
  /** The peer had no room to register or copy, and answered: by TCP. */
  PEER_BUSY("peer-busy"),
  /** The peer does not know the block, and answered: by TCP. */
  PEER_UNKNOWN_BLOCK("peer-unknown-block"),
  /** No receive memory was free here. */
  POOL_EMPTY("pool-empty"),
  /** A checksum did not match, and TCP brought other bytes or none. */
  CORRUPT("corrupt"),
  /** A checksum did not match, and TCP brought the same bytes: the recorded checksum is wrong. */
  CHECKSUM_UNUSABLE("checksum-unusable"),
  /** The peer broke the protocol. */
  PROTOCOL_ERROR("protocol-error"),
  /** The block could not be written to disk here. */
  DISK("disk"),
  /** The executor is stopping. */
  STOPPED("stopped");

  private final String label;

  FallbackReason(String label) {
    this.label = label;
  }

  /** As users see it in counters, logs and reports. */
  public String label() {
    return label;
  }
}
