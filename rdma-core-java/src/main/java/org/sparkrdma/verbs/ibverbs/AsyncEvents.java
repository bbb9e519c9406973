// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvAsyncEvent;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvContext;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.Native;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.SetUpCalls;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/**
 * Asynchronous events of a device, see ibv_get_async_event(3): overrun completion queues, broken
 * queue pairs, failures of the device and its ports; these the owner of a connection manager sees
 * as DEVICE_DOWN. One for each context, shared by all devices opened on it; the thread that polls
 * takes the events. Safe for any thread. Released by each device that acquired it.
 */
final class AsyncEvents {
  private static final Logger LOG = LoggerFactory.getLogger(AsyncEvents.class);
  private static final int CQ_ERR = 0;
  private static final int QP_FATAL = 1;
  private static final int QP_REQ_ERR = 2;
  private static final int QP_ACCESS_ERR = 3;
  private static final int DEVICE_FATAL = 8;
  private static final int PORT_ACTIVE = 9;
  private static final int PORT_ERR = 10;
  private static final int SM_CHANGE = 13;
  private static final int CLIENT_REREGISTER = 17;
  private static final int GID_CHANGE = 18;

  private static final Map<Long, AsyncEvents> OPEN = new HashMap<>();

  private final VerbsLibrary verbs;
  private final long context;
  private final int fd;
  private final Map<Long, Consumer<String>> onFailure = new ConcurrentHashMap<>();
  private final Set<IbverbsConnectionManager> managers = ConcurrentHashMap.newKeySet();
  private int users;

  private AsyncEvents(VerbsLibrary verbs, long context) {
    this.verbs = verbs;
    this.context = context;
    fd = Native.getInt(context + IbvContext.ASYNC_FD);
    Libc.setNonBlocking(fd);
  }

  /**
   * @throws VerbsException when the device's events cannot be taken
   */
  static AsyncEvents acquire(VerbsLibrary verbs, long context) throws VerbsException {
    synchronized (OPEN) {
      AsyncEvents events = OPEN.get(context);
      if (events == null) {
        events = new AsyncEvents(verbs, context);
        // librdmacm keeps the context: events of the time since its last user are out of date.
        events.take(Integer.MAX_VALUE);
        OPEN.put(context, events);
      }
      events.users++;
      return events;
    }
  }

  void release() {
    synchronized (OPEN) {
      users--;
      if (users == 0) {
        OPEN.remove(context);
      }
    }
  }

  /** Readable when there are events. */
  int fd() {
    return fd;
  }

  /**
   * Reports failures of the completion queue or queue pair at that address.
   *
   * @param listener receives the reason, on any thread
   */
  void listen(long object, Consumer<String> listener) {
    onFailure.put(object, listener);
  }

  /** Called before the object is destroyed. */
  void forget(long object) {
    onFailure.remove(object);
  }

  /** Reports events of the whole device to this connection manager. */
  void listenDevice(IbverbsConnectionManager manager) {
    managers.add(manager);
  }

  void forgetDevice(IbverbsConnectionManager manager) {
    managers.remove(manager);
  }

  /**
   * Takes pending events, at most that many, and calls their listeners; returns their number.
   *
   * @throws VerbsException when events cannot be taken any more: the descriptor may be readable for
   *     ever
   */
  int take(int most) throws VerbsException {
    int events = 0;
    try (NativeArena arena = new NativeArena()) {
      long event = arena.allocate(IbvAsyncEvent.SIZE);
      while (events < most && take(event)) {
        events++;
        int type = Native.getInt(event + IbvAsyncEvent.EVENT_TYPE);
        long object = Native.getLong(event + IbvAsyncEvent.ELEMENT);
        int port = isOfPort(type) ? Native.getInt(event + IbvAsyncEvent.ELEMENT) : 0;
        // Looked up before the acknowledgement: destroying the object waits for that.
        Consumer<String> failed = type <= QP_ACCESS_ERR ? onFailure.get(object) : null;
        verbs.ackAsyncEvent(event);
        if (type == DEVICE_FATAL || isOfPort(type)) {
          onDeviceEvent(type, port);
        } else if (failed != null) {
          failed.accept("the device reports: " + name(type));
        } else {
          // Of an object that is being destroyed, or one that breaks nothing, such as the last
          // receive of a queue pair, which some drivers report at each disconnect.
          LOG.debug("Event of an RDMA object: device={} event={}", Contexts.name(context), type);
        }
      }
    }
    return events;
  }

  /** Takes one event; returns false when there is none. */
  private boolean take(long event) throws VerbsException {
    if (verbs.getAsyncEvent(context, event) == 0) {
      return true;
    }
    int errno = SetUpCalls.errno();
    if (Libc.isNoEvent(errno)) {
      return false;
    }
    throw Libraries.failure("ibv_get_async_event", errno, "device=" + Contexts.name(context));
  }

  /**
   * Whether an event of this number of enum ibv_event_type has the number of a port; those of a
   * queue or a queue pair have its address there.
   */
  static boolean isOfPort(int type) {
    return (type >= PORT_ACTIVE && type <= SM_CHANGE)
        || type == CLIENT_REREGISTER
        || type == GID_CHANGE;
  }

  private void onDeviceEvent(int type, int port) {
    String device = Contexts.name(context);
    LOG.info("Event of RDMA device: device={} port={} event={}", device, port, type);
    if (type == DEVICE_FATAL) {
      reportAll(0, "the device failed: device=" + device);
    } else if (type == PORT_ERR) {
      reportAll(port, "a port of the device is down: device=" + device + " port=" + port);
    }
  }

  /**
   * Reports a failure of the device to all its connection managers.
   *
   * @param port that is down; 0 is the whole device
   */
  void reportAll(int port, String reason) {
    managers.forEach(manager -> manager.onDeviceFailure(reason, port));
  }

  private static String name(int type) {
    return switch (type) {
      case CQ_ERR -> "completion queue overrun";
      case QP_FATAL -> "queue pair broken";
      case QP_REQ_ERR -> "invalid request of the peer";
      case QP_ACCESS_ERR -> "access violation of the peer";
      default -> throw new IllegalArgumentException("not a failure: " + type);
    };
  }
}
