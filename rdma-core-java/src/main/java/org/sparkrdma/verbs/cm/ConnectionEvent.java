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
package org.sparkrdma.verbs.cm;

/**
 * Something that happened to a connection, see rdma_get_cm_event(3).
 *
 * @param type what happened
 * @param connection to which connection; for {@link Type#CONNECT_REQUEST} a new one
 * @param listener which listener took it; only of {@link Type#CONNECT_REQUEST}, else null
 * @param privateData what the peer sent with it; empty when nothing, perhaps padded with zeros
 * @param reason for failures a few words for a log; else empty
 */
public record ConnectionEvent(
    Type type, Connection connection, Listener listener, byte[] privateData, String reason) {

  /** What can happen. */
  public enum Type {
    /** Address and route are known: make the queue pair and connect. */
    RESOLVED,
    /** There is no way to the address. */
    RESOLVE_FAILED,
    /** A peer asks for a connection: accept or reject it. */
    CONNECT_REQUEST,
    /** Both ends may send. */
    ESTABLISHED,
    /** The peer, or its host, refused; {@link ConnectionEvent#privateData} may say more. */
    REJECTED,
    /** The peer did not answer in time. */
    UNREACHABLE,
    /** The attempt failed otherwise. */
    CONNECT_ERROR,
    /** The connection has ended; its queue pair is in error. */
    DISCONNECTED,
    /** The device is gone; so is everything on it. */
    DEVICE_REMOVED
  }
}
