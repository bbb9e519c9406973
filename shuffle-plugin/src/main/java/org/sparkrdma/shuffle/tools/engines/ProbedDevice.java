// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.net.InetAddress;
import java.util.List;
import org.sparkrdma.shuffle.address.DeviceChoice;
import org.sparkrdma.shuffle.address.DeviceTrials;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;

/**
 * The device that an executor would use, open, and its engine. Closed by the caller that opened it.
 *
 * @param engine loaded
 * @param device open
 * @param choice its port and addresses
 */
public record ProbedDevice(VerbsEngine engine, Device device, DeviceChoice choice)
    implements AutoCloseable {

  /**
   * Chooses and opens it.
   *
   * @param sparkHost where Spark's own block transfer listens
   * @throws VerbsException when there is none, with the reasons
   */
  public static ProbedDevice open(ShuffleSettings settings, InetAddress sparkHost)
      throws VerbsException {
    Verbs.Choice engines = Verbs.choose(settings.engine(), settings.engineSettings());
    VerbsEngine engine = engines.engine();
    if (engine == null) {
      throw new VerbsException("open", String.join("; ", engines.reasons()));
    }
    try {
      return DeviceTrials.run(
          choices(engine, settings, sparkHost, 0),
          choice -> new ProbedDevice(engine, engine.open(choice.device()), choice),
          (failed, reason, next) -> {});
    } catch (VerbsException e) {
      engine.close();
      throw e;
    }
  }

  /**
   * The choice of an executor on this host, then those to use when it fails.
   *
   * @param number by which executors choose among equal devices; 0 of the first
   */
  static List<DeviceChoice> choices(
      VerbsEngine engine, ShuffleSettings settings, InetAddress sparkHost, int number)
      throws VerbsException {
    return DeviceChoice.all(
        engine.devices(), settings.device(sparkHost, number), NetworkAddress::ofHost);
  }

  @Override
  public void close() {
    device.close();
    engine.close();
  }
}
