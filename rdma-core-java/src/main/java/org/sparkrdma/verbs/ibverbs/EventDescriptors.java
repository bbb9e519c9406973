// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import org.sparkrdma.verbs.ibverbs.ffi.Layouts.Pollfd;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.Memory;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;

/**
 * The descriptors of the events that a connection manager takes. Guarded by the manager, which
 * closes it.
 */
final class EventDescriptors implements AutoCloseable {
  /** Index of the descriptor of librdmacm. */
  static final int CM = 0;

  /** Index of the descriptor of the device's asynchronous events. */
  static final int DEVICE = 1;

  private static final int COUNT = 2;

  private final NativeArena arena = new NativeArena();
  private final long pollfds = arena.allocate(COUNT * Pollfd.SIZE);
  private final long noTime = arena.allocate(2 * Long.BYTES);

  EventDescriptors(int cm, int device) {
    set(CM, cm);
    set(DEVICE, device);
  }

  private void set(int index, int fd) {
    Memory.putInt(at(index) + Pollfd.FD, fd);
    Memory.putShort(at(index) + Pollfd.EVENTS, Libc.POLLIN);
  }

  private long at(int index) {
    return pollfds + (long) index * Pollfd.SIZE;
  }

  /** Polls all; returns whether one of them is ready. */
  boolean poll() {
    return Libc.poll(pollfds, COUNT, noTime) > 0;
  }

  /** The bits of poll(2) that the last poll found for a descriptor; 0 for none. */
  int ready(int index) {
    return Memory.getShort(at(index) + Pollfd.REVENTS);
  }

  /** The number of a descriptor that is polled. */
  int fd(int index) {
    return Memory.getInt(at(index) + Pollfd.FD);
  }

  boolean isPolled(int index) {
    return fd(index) >= 0;
  }

  /** A negative descriptor is not polled; this one would be ready for ever. */
  void stopPolling(int index) {
    Memory.putInt(at(index) + Pollfd.FD, -1);
  }

  @Override
  public void close() {
    arena.close();
  }
}
