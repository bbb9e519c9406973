// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.EngineChannel;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvCompChannel;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.Pollfd;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.Native;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.SetUpCalls;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/**
 * Waits with poll(2) for the completion channel, the event channels of its connection managers, the
 * device's asynchronous events, and an eventfd that wakes it.
 */
final class IbverbsCompletionChannel extends EngineChannel {
  private static final long NS_PER_SECOND = 1_000_000_000;

  private final IbverbsDevice device;
  private final VerbsLibrary verbs;
  private final long channel;
  private final int fd;
  private final int eventfd;
  private final NativeArena arena = new NativeArena();
  private final long timespec = arena.allocate(2 * Long.BYTES);
  private final long scratch = arena.allocate(2 * Long.BYTES);
  private final long one = arena.allocate(Long.BYTES);
  private final List<Integer> descriptors = new ArrayList<>();
  private volatile PollSet pollSet;
  private volatile boolean signalled;
  private volatile boolean sleeping;

  /** Upper bound of pending events; without a lock, because a wrong number costs only one call. */
  private int armed;

  private record PollSet(long address, int count) {}

  private IbverbsCompletionChannel(IbverbsDevice device, long channel, int eventfd) {
    super(device);
    this.device = device;
    this.channel = channel;
    this.eventfd = eventfd;
    verbs = device.libraries().verbs();
    fd = Native.getInt(channel + IbvCompChannel.FD);
    Libc.setNonBlocking(fd);
    Native.putLong(one, 1);
    descriptors.add(eventfd);
    descriptors.add(fd);
    changePollSet();
  }

  static IbverbsCompletionChannel create(IbverbsDevice device) throws VerbsException {
    int eventfd = Libc.eventfd();
    if (eventfd < 0) {
      throw Libraries.failure("eventfd", "");
    }
    long channel = device.libraries().verbs().createCompChannel(device.context());
    if (channel == 0) {
      VerbsException failure =
          Libraries.failure("ibv_create_comp_channel", "device=" + device.info().name());
      Libc.close(eventfd);
      throw failure;
    }
    return new IbverbsCompletionChannel(device, channel, eventfd);
  }

  /** Old sets stay until close: the owner may be waiting on one. */
  private void changePollSet() {
    long set = arena.allocate((long) descriptors.size() * Pollfd.SIZE);
    for (int i = 0; i < descriptors.size(); i++) {
      Native.putInt(set + (long) i * Pollfd.SIZE + Pollfd.FD, descriptors.get(i));
      Native.putShort(set + (long) i * Pollfd.SIZE + Pollfd.EVENTS, Libc.POLLIN);
    }
    pollSet = new PollSet(set, descriptors.size());
  }

  long channel() {
    return channel;
  }

  /** A completion queue was armed: one more event may come. */
  void onArmed() {
    armed++;
  }

  /** Wakes also when one of these descriptors is readable. */
  synchronized void watch(int... more) {
    for (int fd : more) {
      descriptors.add(fd);
    }
    changePollSet();
  }

  synchronized void unwatch(int... gone) {
    for (int fd : gone) {
      descriptors.remove((Integer) fd);
    }
    changePollSet();
    wakeup();
  }

  @Override
  public void await(long timeoutNs) {
    checkOpen();
    long sleepNs = 0;
    if (timeoutNs > 0 && !signalled) {
      sleepNs = remainingNs(timeoutNs);
      sleeping = true;
      if (signalled) {
        sleepNs = 0;
      }
    }
    poll(sleepNs);
    sleeping = false;
    signalled = false;
  }

  private void poll(long timeoutNs) {
    PollSet set = pollSet;
    Native.putLong(timespec, timeoutNs / NS_PER_SECOND);
    Native.putLong(timespec + Long.BYTES, timeoutNs % NS_PER_SECOND);
    if (Libc.poll(set.address, set.count, timespec) > 0) {
      if (isReadable(set, 0)) {
        Libc.read(eventfd, scratch, Long.BYTES);
      }
      if (isReadable(set, 1)) {
        takeCompletionEvents();
      }
      dropDead(set);
    }
  }

  private static boolean isReadable(PollSet set, int i) {
    return (readyEvents(set, i) & Libc.POLLIN) != 0;
  }

  private static int readyEvents(PollSet set, int i) {
    return Native.getShort(set.address + (long) i * Pollfd.SIZE + Pollfd.REVENTS);
  }

  /**
   * Waits no longer for descriptors of a removed device, which are ready for ever: the kernel's
   * ib_uverbs_event_poll reports EPOLLERR for them. The owner would never sleep.
   */
  private void dropDead(PollSet set) {
    for (int i = 1; i < set.count; i++) {
      if (Libc.isDead(readyEvents(set, i))) {
        drop(Native.getInt(set.address + (long) i * Pollfd.SIZE + Pollfd.FD));
      }
    }
  }

  /** Waits no longer for a descriptor that may be ready for ever. Any thread. */
  synchronized void drop(int fd) {
    // Not removed, since the descriptors have fixed positions; poll(2) skips negative ones.
    descriptors.replaceAll(each -> each == fd ? -1 : each);
    changePollSet();
  }

  /** Takes as many events as may be pending: one more call would cost a system call each time. */
  private void takeCompletionEvents() {
    boolean taken = takeFirst();
    while (taken) {
      verbs.ackCqEvents(Native.getLong(scratch), 1);
      armed--;
      taken = armed > 0 && verbs.getCqEvent(channel, scratch, scratch + Long.BYTES) == 0;
    }
    armed = 0;
  }

  /** A readable channel rarely has none, so only then the call is repeated for its errno. */
  private boolean takeFirst() {
    if (verbs.getCqEvent(channel, scratch, scratch + Long.BYTES) == 0
        || verbs.getCqEventOrErrno(channel, scratch, scratch + Long.BYTES) == 0) {
      return true;
    }
    int errno = SetUpCalls.errno();
    if (!Libc.isNoEvent(errno)) {
      drop(fd);
      String failure =
          Libraries.message("ibv_get_cq_event", errno, "device=" + device.info().name());
      device.asyncEvents().reportAll(0, "completion events cannot be taken: " + failure);
    }
    return false;
  }

  @Override
  public void wakeup() {
    if (!signalled) {
      signalled = true;
      if (sleeping) {
        wakeSleeper();
      }
    }
  }

  private synchronized void wakeSleeper() {
    if (!isClosed()) {
      Libc.write(eventfd, one, Long.BYTES);
    }
  }

  @Override
  protected void destroy() {
    device.onReleased("ibv_destroy_comp_channel", verbs.destroyCompChannel(channel), "");
    Libc.close(eventfd);
    arena.close();
  }
}
