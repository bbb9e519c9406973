// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.soft.SoftProvider;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;
import org.sparkrdma.verbs.spi.VerbsProvider;

/**
 * The loopback engine without {@link Capability#POST_BESIDE_POLL}: tasks leave each request to the
 * agent. Used only by name.
 */
public final class AgentPostsProvider implements VerbsProvider {
  static final String NAME = "agent-posts";

  /** Used by the service loader. */
  public AgentPostsProvider() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public int order() {
    return -1;
  }

  @Override
  public VerbsEngine load(EngineSettings settings) throws EngineUnavailableException {
    return limited(VerbsEngine.class, new SoftProvider().load(settings));
  }

  /** The object, whose devices and facts of devices lack the capability. */
  private static <T> T limited(Class<T> type, T real) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              try {
                return limited(method.invoke(real, arguments));
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }

  private static Object limited(Object result) {
    if (result instanceof Device device) {
      return limited(Device.class, device);
    }
    if (result instanceof DeviceInfo info) {
      return info.without(Capability.POST_BESIDE_POLL);
    }
    if (result instanceof List<?> all) {
      return all.stream().map(AgentPostsProvider::limited).toList();
    }
    return result;
  }
}
