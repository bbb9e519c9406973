// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.Optional;

/**
 * Where an executor takes connections, and the secrets that prove one belongs to it.
 *
 * @param executorId Spark's id of the executor
 * @param host address of its listener, literal or name
 * @param port of its listener
 * @param engine name of its verbs engine; both ends must use the same
 * @param protocol version of the wire protocol it speaks
 * @param incarnation random number of this start of this executor
 * @param token 32 random bytes; whoever knows them was told by the driver. Never logged
 */
public record Endpoint(
    String executorId,
    String host,
    int port,
    String engine,
    int protocol,
    long incarnation,
    byte[] token) {

  /** Bytes of a token. */
  public static final int TOKEN_BYTES = 32;

  public Endpoint {
    token = token.clone();
  }

  @Override
  public byte[] token() {
    return token.clone();
  }

  /** What keeps this executor from reading the other's blocks; empty when nothing does. */
  public Optional<String> incompatibility(Endpoint other) {
    if (!engine.equals(other.engine)) {
      return Optional.of("engine here=" + engine + " there=" + other.engine);
    }
    if (protocol != other.protocol) {
      return Optional.of("protocol here=" + protocol + " there=" + other.protocol);
    }
    return Optional.empty();
  }

  /** Without the secrets. */
  @Override
  public String toString() {
    return "Endpoint[executorId=" + executorId + " host=" + host + " port=" + port + "]";
  }
}
