// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.cm;

import java.net.InetSocketAddress;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;

/**
 * One end of a connection, or of an attempt at one: the communication identifier of rdma_cm(7).
 *
 * <p>Owned by the thread that polls its connection manager. Closed by the caller that resolved it
 * or polled its {@link ConnectionEvent.Type#CONNECT_REQUEST}, also after a failure. Closing it
 * destroys its queue pair and ends the connection. No event of it is polled afterwards. A second
 * close does nothing; on another thread it waits for the first.
 */
public interface Connection extends AutoCloseable {
  /** {@return the address of this end; null before it is resolved} */
  InetSocketAddress localAddress();

  /** {@return the address of the other end} */
  InetSocketAddress remoteAddress();

  /**
   * {@return the number of the initiator's queue pair in a connection request; 0 without {@link
   * org.sparkrdma.verbs.device.Capability#REQUEST_HAS_QUEUE_PAIR}}
   */
  default int requestQueuePairNumber() {
    return 0;
  }

  /**
   * Creates the queue pair, see rdma_create_qp(3): once, after {@link
   * ConnectionEvent.Type#RESOLVED} or {@link ConnectionEvent.Type#CONNECT_REQUEST}. A device takes
   * milliseconds for it, so any thread may call it while the owner polls; the owner calls nothing
   * of this connection until it returns, but for {@link #close}, which waits for that.
   *
   * @param domain protection domain of the same device
   * @param settings depths, limits and completion queues, of the same device
   * @return the queue pair, which {@link #close} destroys
   * @throws IllegalArgumentException when the settings exceed the device's limits, or the domain or
   *     a completion queue is of another device
   * @throws IllegalStateException when the domain or a completion queue is closed, for a second
   *     queue pair, or in another phase
   * @throws VerbsException when the device refuses, or the connection has ended: its event may not
   *     have been polled yet
   */
  QueuePair createQueuePair(ProtectionDomain domain, QueuePairSettings settings)
      throws VerbsException;

  /** {@return its queue pair, or null before there is one} */
  QueuePair queuePair();

  /**
   * Requests the connection, see rdma_connect(3). Ends in {@link ConnectionEvent.Type#ESTABLISHED},
   * {@link ConnectionEvent.Type#REJECTED}, {@link ConnectionEvent.Type#REJECTED_AS_STALE}, {@link
   * ConnectionEvent.Type#UNREACHABLE} or {@link ConnectionEvent.Type#CONNECT_ERROR}.
   *
   * @param parameters private data, depths and retries; not null
   * @throws IllegalStateException when it is not resolved or has no queue pair
   * @throws IllegalArgumentException when there is more private data than the device's limit
   * @throws VerbsException when the request cannot be sent, the connection has ended, or its queue
   *     pair is broken
   */
  void connect(ConnectionParameters parameters) throws VerbsException;

  /**
   * Accepts a connection request, see rdma_accept(3). On iWARP the other end must send first:
   * kernel siw ends a connection whose acceptor sends before the initiator has received the reply
   * (RFC 5044, section 7.1.2). Ends in {@link ConnectionEvent.Type#ESTABLISHED} or {@link
   * ConnectionEvent.Type#CONNECT_ERROR}.
   *
   * @param parameters private data, depths and retries; not null
   * @throws IllegalStateException when it is no request or has no queue pair
   * @throws IllegalArgumentException when there is more private data than the device's limit
   * @throws VerbsException when the reply cannot be sent, the connection has ended, or its queue
   *     pair is broken
   */
  void accept(ConnectionParameters parameters) throws VerbsException;

  /**
   * Rejects a connection request, see rdma_reject(3). Does nothing when the connection has ended.
   * The caller closes the connection afterwards.
   *
   * @param privateData for the peer, at most the device's limit; not null
   * @throws IllegalStateException when it is no request
   * @throws IllegalArgumentException when there is more private data than that
   */
  void reject(byte[] privateData);

  /**
   * Ends the connection, see rdma_disconnect(3): the queue pair goes to {@link
   * org.sparkrdma.verbs.QueuePairState#ERROR}, its work is flushed, both ends get {@link
   * ConnectionEvent.Type#DISCONNECTED}. Does nothing when it is not established.
   */
  void disconnect();

  /** {@return the object that the owner attached; null at first} */
  Object attachment();

  /**
   * Attaches an object of the owner, such as its own connection object. Completions have it, too;
   * where another thread polls them, it is attached before their work is posted.
   *
   * @param attachment returned by {@link #attachment}; may be null
   */
  void attach(Object attachment);

  @Override
  void close();
}
