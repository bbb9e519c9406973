// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.EnumSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;

/**
 * An engine that can do what DiSNI can: no private data in either direction, no access per queue
 * pair, no number of the initiator's queue pair. Any other engine does the work.
 */
final class LimitedEngine {
  private static final Set<Capability> ABSENT =
      EnumSet.of(
          Capability.ACCEPT_PRIVATE_DATA,
          Capability.REJECT,
          Capability.QUEUE_PAIR_ACCESS,
          Capability.WITHHOLDS_ACCESS,
          Capability.REQUEST_HAS_QUEUE_PAIR);
  private static final byte[] NO_DATA = {};

  /** The limited connection of each connection of the engine that is open. */
  private final Map<Object, Object> connections =
      Collections.synchronizedMap(new IdentityHashMap<>());

  private LimitedEngine() {}

  static VerbsEngine over(VerbsEngine engine) {
    return new LimitedEngine().limit(VerbsEngine.class, engine);
  }

  private <T> T limit(Class<T> type, T inner) {
    return type.cast(
        Proxy.newProxyInstance(
            LimitedEngine.class.getClassLoader(), new Class<?>[] {type}, new Limited(inner)));
  }

  private Connection limit(Connection connection) {
    return connection == null
        ? null
        : (Connection)
            connections.computeIfAbsent(connection, inner -> limit(Connection.class, connection));
  }

  private static DeviceInfo limit(DeviceInfo device) {
    Set<Capability> capabilities = EnumSet.copyOf(device.capabilities());
    capabilities.removeAll(ABSENT);
    return NarrowDevice.with(device, device.limits().maxCompletionQueueDepth(), 0, capabilities);
  }

  private final class Limited implements InvocationHandler {
    private final Object inner;

    Limited(Object inner) {
      this.inner = inner;
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
      if (method.getName().equals("requestQueuePairNumber")) {
        return 0;
      }
      try {
        Object result = method.invoke(inner, withoutPrivateData(arguments));
        if (inner instanceof Connection && method.getName().equals("close")) {
          connections.remove(inner);
        }
        return limited(result);
      } catch (InvocationTargetException e) {
        throw e.getCause();
      }
    }

    private Object[] withoutPrivateData(Object[] arguments) {
      for (int i = 0; arguments != null && i < arguments.length; i++) {
        if (arguments[i] instanceof byte[]) {
          arguments[i] = NO_DATA;
        } else if (arguments[i] instanceof ConnectionParameters parameters) {
          arguments[i] =
              new ConnectionParameters(
                  NO_DATA,
                  parameters.readsInFlight(),
                  parameters.retryCount(),
                  parameters.receiverNotReadyRetryCount(),
                  parameters.ackTimeout(),
                  parameters.timeout());
        }
      }
      return arguments;
    }

    private Object limited(Object result) {
      if (result instanceof DeviceInfo device) {
        return limit(device);
      }
      if (result instanceof List<?> devices) {
        return devices.stream().map(device -> limit((DeviceInfo) device)).toList();
      }
      if (result instanceof Device device) {
        return limit(Device.class, device);
      }
      if (result instanceof ConnectionManager manager) {
        return limit(ConnectionManager.class, manager);
      }
      if (result instanceof Connection connection) {
        return limit(connection);
      }
      if (result instanceof ConnectionEvent event) {
        return new ConnectionEvent(
            event.type(), limit(event.connection()), event.listener(), NO_DATA, event.reason());
      }
      return result;
    }
  }
}
