// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvAsyncEvent;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvContext;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.Memory;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/**
 * Asynchronous events of a device, see ibv_get_async_event(3): overrun completion queues, broken
 * queue pairs, failures of the device and its ports. One for each context, shared by all devices
 * opened on it; the thread that polls takes the events. Safe for any thread. Released by each
 * device that acquired it.
 */
final class AsyncEvents {
  private static final Logger LOG = LoggerFactory.getLogger(AsyncEvents.class);
  private static final int CQ_ERR = 0;
  private static final int QP_FATAL = 1;
  private static final int QP_REQ_ERR = 2;
  private static final int QP_ACCESS_ERR = 3;
  private static final int COMM_EST = 4;
  private static final int DEVICE_FATAL = 8;
  private static final int PORT_ERR = 10;
  private static final int GID_CHANGE = 18;

  private static final Map<Long, AsyncEvents> OPEN = new HashMap<>();

  private final VerbsLibrary verbs;
  private final long context;
  private final int fd;
  private final Map<Long, ObjectListener> listeners = new ConcurrentHashMap<>();
  private final Set<DeviceListener> deviceListeners = ConcurrentHashMap.newKeySet();
  private int users;

  /** Receives events of one queue pair or completion queue. */
  @FunctionalInterface
  interface ObjectListener {
    /** The object broke. */
    void onFailure(String reason);

    /** A message arrived at a queue pair in state RTR, see IBV_EVENT_COMM_EST. */
    default void onCommunication() {}
  }

  /** Receives events of the whole device. */
  interface DeviceListener {
    /**
     * The device failed.
     *
     * @param port that is down; 0 is the whole device
     */
    void onFailure(String reason, int port);

    /** The addresses of a port changed, see IBV_EVENT_GID_CHANGE. */
    void onAddressesChanged(int port);
  }

  private AsyncEvents(VerbsLibrary verbs, long context) {
    this.verbs = verbs;
    this.context = context;
    fd = Memory.getInt(context + IbvContext.ASYNC_FD);
    Libc.setNonBlocking(fd);
  }

  static AsyncEvents acquire(VerbsLibrary verbs, long context) {
    synchronized (OPEN) {
      AsyncEvents events = OPEN.computeIfAbsent(context, c -> new AsyncEvents(verbs, c));
      if (events.users == 0) {
        // librdmacm keeps the context: events of the time since its last user are out of date.
        events.take();
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

  /** Adds a listener of the completion queue or queue pair at that address. */
  void listen(long object, ObjectListener listener) {
    listeners.put(object, listener);
  }

  /** Called before the object is destroyed. */
  void forget(long object) {
    listeners.remove(object);
  }

  /** Adds a listener of the whole device. */
  void listenDevice(DeviceListener listener) {
    deviceListeners.add(listener);
  }

  void forgetDevice(DeviceListener listener) {
    deviceListeners.remove(listener);
  }

  /** Takes all pending events and calls their listeners. */
  void take() {
    try (NativeArena arena = new NativeArena()) {
      long event = arena.allocate(IbvAsyncEvent.SIZE);
      while (verbs.getAsyncEvent(context, event) == 0) {
        int type = Memory.getInt(event + IbvAsyncEvent.EVENT_TYPE);
        // Looked up before the acknowledgement: destroying the object waits for that.
        ObjectListener listener =
            type <= COMM_EST ? listeners.get(Memory.getLong(event + IbvAsyncEvent.ELEMENT)) : null;
        int port = Memory.getInt(event + IbvAsyncEvent.ELEMENT);
        verbs.ackAsyncEvent(event);
        if (type > COMM_EST) {
          onDeviceEvent(type, port);
        } else if (listener != null) {
          notifyListener(listener, type);
        }
      }
    }
  }

  private static void notifyListener(ObjectListener listener, int type) {
    if (type == COMM_EST) {
      listener.onCommunication();
    } else {
      listener.onFailure("the device reports: " + name(type));
    }
  }

  private void onDeviceEvent(int type, int port) {
    String device = Contexts.name(context);
    LOG.info("Event of RDMA device: device={} event={}", device, type);
    if (type == DEVICE_FATAL) {
      reportAll(0, "the device failed: device=" + device);
    } else if (type == PORT_ERR) {
      reportAll(port, "a port of the device is down: device=" + device + " port=" + port);
    } else if (type == GID_CHANGE) {
      deviceListeners.forEach(listener -> listener.onAddressesChanged(port));
    }
  }

  private void reportAll(int port, String reason) {
    deviceListeners.forEach(listener -> listener.onFailure(reason, port));
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
