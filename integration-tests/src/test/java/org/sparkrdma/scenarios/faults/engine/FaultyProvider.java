// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.sparkrdma.scenarios.faults.plan.Faults;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.soft.SoftProvider;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;
import org.sparkrdma.verbs.spi.VerbsProvider;

/**
 * The loopback engine, whose devices make objects with faults; memory and channels are the devices'
 * own. The first choice where its jar is on the class path.
 */
public final class FaultyProvider implements VerbsProvider {
  private final SoftProvider soft = new SoftProvider();

  /** Used by the service loader. */
  public FaultyProvider() {}

  @Override
  public String name() {
    return "faulty";
  }

  @Override
  public int order() {
    return 0;
  }

  @Override
  public VerbsEngine load(EngineSettings settings) throws EngineUnavailableException {
    return over(VerbsEngine.class, soft.load(settings));
  }

  private static <T> T over(Class<T> type, T real) {
    return type.cast(
        Proxy.newProxyInstance(
            FaultyProvider.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              try {
                return withFaults(method.invoke(real, arguments), arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }

  private static Object withFaults(Object made, Object[] arguments) {
    if (made instanceof Device device) {
      return over(Device.class, device);
    }
    if (made instanceof ProtectionDomain domain) {
      return new FaultyDomain(domain, Faults.here());
    }
    if (made instanceof CompletionQueue queue) {
      return new FaultyCompletionQueue(queue, (CompletionChannel) arguments[1]);
    }
    if (made instanceof ConnectionManager manager) {
      return new FaultyConnectionManager(manager, (CompletionChannel) arguments[0], Faults.here());
    }
    return made;
  }
}
