// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.util.List;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.VerbsProvider;

/** The devices of the engine {@code ibverbs} on this host. Stateless. */
final class IbverbsDevices {
  static final String ENGINE = "ibverbs";

  private IbverbsDevices() {}

  static List<DeviceInfo> list() throws NotUsableException {
    VerbsProvider provider =
        Verbs.providers().stream()
            .filter(one -> one.name().equals(ENGINE))
            .findFirst()
            .orElseThrow(
                () ->
                    new NotUsableException(
                        "the plug-in's jar is not in the folder lib of this archive"));
    try (VerbsEngine engine = provider.load(EngineSettings.none())) {
      return engine.devices();
    } catch (VerbsException e) {
      throw new NotUsableException(
          "RDMA cannot be used on this host: "
              + e.getMessage()
              + "; what to do says: java -jar shuffle-plugin.jar doctor");
    }
  }
}
