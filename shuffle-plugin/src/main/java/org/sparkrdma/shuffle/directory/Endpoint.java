// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.List;
import java.util.Optional;
import org.sparkrdma.shuffle.address.ListenerAddress;

/**
 * Where an executor listens for readers, and the secret that proves that a connection belongs to
 * it. The executor publishes it to the driver with {@link DirectoryClient}; others find it in their
 * {@link EndpointCache}.
 *
 * @param executorId Spark's id of the executor
 * @param host Spark's name of its host
 * @param addresses of its listeners, the preferred one first; 1 to {@link #MAX_ADDRESSES}
 * @param engine name of its verbs engine; both ends must use the same
 * @param protocol version of its wire protocol
 * @param incarnation random number of this start of this executor
 * @param token 32 random bytes, known only through the driver; never logged
 */
public record Endpoint(
    String executorId,
    String host,
    List<ListenerAddress> addresses,
    String engine,
    int protocol,
    long incarnation,
    byte[] token) {

  /** Bytes of a token. */
  public static final int TOKEN_BYTES = 32;

  /** Maximum number of addresses. */
  public static final int MAX_ADDRESSES = 8;

  public Endpoint {
    addresses = List.copyOf(addresses);
    token = token.clone();
    if (addresses.isEmpty() || addresses.size() > MAX_ADDRESSES) {
      throw new IllegalArgumentException("bad endpoint: addresses=" + addresses.size());
    }
  }

  @Override
  public byte[] token() {
    return token.clone();
  }

  /** The reason why this executor cannot read the other's blocks; empty when it can. */
  public Optional<String> incompatibility(Endpoint other) {
    if (!engine.equals(other.engine)) {
      return Optional.of("engine here=" + engine + " there=" + other.engine);
    }
    if (protocol != other.protocol) {
      return Optional.of("protocol here=" + protocol + " there=" + other.protocol);
    }
    return Optional.empty();
  }

  /** Omits the secrets. */
  @Override
  public String toString() {
    return "Endpoint[executorId=" + executorId + " addresses=" + addresses + "]";
  }
}
