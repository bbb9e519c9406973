// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;
import org.sparkrdma.verbs.spi.VerbsProvider;

/**
 * One engine and its devices.
 *
 * @param engine its name
 * @param devices its devices; empty when it cannot run
 * @param reason why it cannot run; empty when it can
 */
public record EngineDevices(String engine, List<DeviceInfo> devices, String reason) {
  /** Keeps a copy. */
  public EngineDevices {
    devices = List.copyOf(devices);
  }

  /** All engines on the class path, in the order of the automatic choice. */
  public static List<EngineDevices> all(EngineSettings settings) {
    List<EngineDevices> all = new ArrayList<>();
    for (VerbsProvider provider : Verbs.providers()) {
      all.add(of(provider, settings));
    }
    return all;
  }

  private static EngineDevices of(VerbsProvider provider, EngineSettings settings) {
    try (VerbsEngine engine = provider.load(settings)) {
      return new EngineDevices(provider.name(), engine.devices(), "");
    } catch (EngineUnavailableException e) {
      return new EngineDevices(provider.name(), List.of(), e.getMessage());
    } catch (VerbsException | LinkageError e) {
      return new EngineDevices(provider.name(), List.of(), e.toString());
    }
  }
}
