// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.leak;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.Listener;
import org.sparkrdma.verbs.device.OpenResources;

/**
 * A decorator for any engine: keeps a {@link LeakRecord} of each object until it is closed.
 *
 * <p>Every object that it returns is a proxy of the engine's object. An object that is open when
 * its parent is closed counts as closed if the engine reports so. As safe for threads as the
 * engine; closed like the engine.
 */
public final class WatchedEngine {
  /** Names of the recorded types. */
  private static final Map<Class<?>, String> WATCHED =
      Map.of(
          Device.class, "device",
          ProtectionDomain.class, "protection domain",
          HostMemory.class, "host memory",
          MemoryRegion.class, "memory region",
          CompletionChannel.class, "completion channel",
          CompletionQueue.class, "completion queue",
          QueuePair.class, "queue pair",
          ConnectionManager.class, "connection manager",
          Connection.class, "connection",
          Listener.class, "listener");

  /** The proxy of each of the engine's objects that is open. */
  private final Map<Object, Object> proxies = Collections.synchronizedMap(new IdentityHashMap<>());

  private final BiConsumer<Object, String> onCall;

  private WatchedEngine(BiConsumer<Object, String> onCall) {
    this.onCall = onCall;
  }

  /**
   * Returns the engine with leak records, or the engine itself where records are off. The engine
   * has no record: an open one holds nothing but its devices.
   */
  public static VerbsEngine watch(VerbsEngine engine) {
    return !LeakRecord.isEnabled() ? engine : watch(engine, (object, method) -> {});
  }

  /**
   * The same, whether records are on or not.
   *
   * @param onCall receives the engine's object and the method's name before each call
   */
  public static VerbsEngine watch(VerbsEngine engine, BiConsumer<Object, String> onCall) {
    return (VerbsEngine) new WatchedEngine(onCall).proxy(VerbsEngine.class, engine, null);
  }

  private Object proxy(Class<?> type, Object inner, Watched parent) {
    return Proxy.newProxyInstance(
        WatchedEngine.class.getClassLoader(),
        new Class<?>[] {type},
        new Watched(type, inner, parent));
  }

  private Object unwrap(Object argument) {
    if (argument instanceof WorkRequest request) {
      return unwrap(request);
    }
    if (argument instanceof WorkRequest[] requests) {
      WorkRequest[] inner = new WorkRequest[requests.length];
      for (int i = 0; i < inner.length; i++) {
        inner[i] = requests[i] == null ? null : unwrap(requests[i]);
      }
      return inner;
    }
    if (argument instanceof QueuePairSettings settings) {
      return new QueuePairSettings(
          (CompletionQueue) unwrap(settings.sendQueue()),
          (CompletionQueue) unwrap(settings.receiveQueue()),
          settings.sendDepth(),
          settings.receiveDepth(),
          settings.maxSge(),
          settings.remoteAccess());
    }
    return argument != null
            && Proxy.isProxyClass(argument.getClass())
            && Proxy.getInvocationHandler(argument) instanceof Watched watched
        ? watched.inner
        : argument;
  }

  private WorkRequest unwrap(WorkRequest outer) {
    WorkRequest inner = new WorkRequest(Math.max(1, outer.elementCount()));
    if (outer.opcode() == null) {
      return inner;
    }
    switch (outer.opcode()) {
      case SEND -> inner.send(outer.id());
      case SEND_WITH_IMMEDIATE -> inner.sendWithImmediate(outer.id(), outer.immediate());
      case READ -> inner.read(outer.id(), outer.remoteAddress(), outer.remoteKey());
      case WRITE -> inner.write(outer.id(), outer.remoteAddress(), outer.remoteKey());
      case WRITE_WITH_IMMEDIATE ->
          inner.writeWithImmediate(
              outer.id(), outer.remoteAddress(), outer.remoteKey(), outer.immediate());
      case RECEIVE -> inner.receive(outer.id());
      default -> throw new IllegalArgumentException("opcode cannot be posted: " + outer.opcode());
    }
    for (int i = 0; i < outer.elementCount(); i++) {
      inner.local((MemoryRegion) unwrap(outer.region(i)), outer.offset(i), outer.length(i));
    }
    if (outer.isSignalled()) {
      inner.signalled();
    }
    return inner;
  }

  /** One object of the engine: the objects created on it, and its leak record. */
  private final class Watched implements InvocationHandler {
    private final Object inner;
    private final Watched parent;
    private final LeakRecord leakRecord;
    private volatile boolean closed;
    private final Set<Watched> children = ConcurrentHashMap.newKeySet();

    Watched(Class<?> type, Object inner, Watched parent) {
      this.inner = inner;
      this.parent = parent;
      leakRecord = WATCHED.containsKey(type) ? LeakRecord.acquire(WATCHED.get(type)) : null;
      if (parent != null) {
        parent.children.add(this);
      }
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
      Object[] unwrapped = arguments == null ? null : arguments.clone();
      for (int i = 0; unwrapped != null && i < unwrapped.length; i++) {
        unwrapped[i] = unwrap(unwrapped[i]);
      }
      onCall.accept(inner, method.getName());
      Object result;
      try {
        result = method.invoke(inner, unwrapped);
      } catch (InvocationTargetException e) {
        throw e.getCause();
      }
      if (method.getName().equals("close") && isEmpty()) {
        markClosed();
      }
      return wrap(method.getReturnType(), result);
    }

    /** Whether the engine has closed all objects of a closed device. */
    private boolean isEmpty() {
      return !(inner instanceof Device device) || device.openResources().equals(OpenResources.NONE);
    }

    private void markClosed() {
      closed = true;
      proxies.remove(inner);
      if (leakRecord != null) {
        leakRecord.release();
      }
      if (parent != null) {
        parent.children.remove(this);
      }
      children.forEach(Watched::markClosed);
    }

    private Object wrap(Class<?> type, Object result) {
      if (result instanceof ConnectionEvent event) {
        return new ConnectionEvent(
            event.type(),
            (Connection) wrap(Connection.class, event.connection()),
            (Listener) wrap(Listener.class, event.listener()),
            event.privateData(),
            event.reason());
      }
      if (result == null || closed || !WATCHED.containsKey(type)) {
        // Objects that a closed object still returns were closed with it.
        return result;
      }
      return proxies.computeIfAbsent(result, own -> proxy(type, own, this));
    }
  }
}
