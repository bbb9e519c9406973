// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.OpenResources;

/**
 * An open device, see ibv_open_device(3): parent of all objects created on it.
 *
 * <p>Safe for any thread, but for {@link #openResources}. The caller that opened it closes it.
 * Closing it closes all objects on it in verbs order (connections, queue pairs, completion queues,
 * regions, protection domains, memory), also when the close of one of them fails. Then it throws
 * the first failure, and another close closes what is left. Otherwise a second close does nothing;
 * on another thread it waits for the first.
 */
public interface Device extends AutoCloseable {
  /** {@return its facts at the time it was opened} */
  DeviceInfo info();

  /**
   * {@return the number of objects that are open on it} Takes pending events, so call it on the
   * thread that polls.
   */
  OpenResources openResources();

  /**
   * Allocates memory that can be registered on this device. It is zeroed and present, so that a
   * lack of memory is an exception here and not a fault later.
   *
   * @param lengthBytes more than 0
   * @return closed by the caller
   * @throws IllegalArgumentException when the length is less than 1
   * @throws IllegalStateException after close, as all methods below but close
   * @throws VerbsException when there is too little memory
   */
  HostMemory allocate(long lengthBytes) throws VerbsException;

  /**
   * See ibv_alloc_pd(3). Closed by the caller.
   *
   * @return the protection domain
   * @throws VerbsException when the device refuses
   */
  ProtectionDomain allocateProtectionDomain() throws VerbsException;

  /**
   * See ibv_create_comp_channel(3). Closed by the caller, after the objects that report to it.
   *
   * @return the channel
   * @throws VerbsException when the system refuses
   */
  CompletionChannel createCompletionChannel() throws VerbsException;

  /**
   * {@link #createCompletionQueue(int, CompletionChannel, int)} with completion vector 0.
   *
   * @param capacity minimum number of completions it holds, at least 1
   * @param channel channel to wake when armed; may be null
   * @return the completion queue
   * @throws VerbsException when the capacity is over the device's limit or the device refuses
   */
  default CompletionQueue createCompletionQueue(int capacity, CompletionChannel channel)
      throws VerbsException {
    return createCompletionQueue(capacity, channel, 0);
  }

  /**
   * See ibv_create_cq(3). Closed by the caller, after the queue pairs that complete in it.
   *
   * @param capacity minimum number of completions it holds, at least 1
   * @param channel channel to wake when armed; may be null
   * @param vector completion vector, whose interrupt wakes the channel; less than {@link
   *     org.sparkrdma.verbs.device.DeviceLimits#completionVectors}
   * @return the completion queue
   * @throws IllegalArgumentException when the device has no such vector, the capacity is less than
   *     1, or the channel is closed or of another device
   * @throws VerbsException when the capacity is over the device's limit or the device refuses
   */
  CompletionQueue createCompletionQueue(int capacity, CompletionChannel channel, int vector)
      throws VerbsException;

  /**
   * See rdma_create_event_channel(3). Closed by the caller.
   *
   * @param channel channel to wake when an event can be polled; not null
   * @return the connection manager
   * @throws IllegalArgumentException when the channel is closed or of another device
   * @throws VerbsException when the system refuses
   */
  ConnectionManager createConnectionManager(CompletionChannel channel) throws VerbsException;

  @Override
  void close();
}
