// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import java.nio.file.Path;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;
import org.sparkrdma.verbs.spi.VerbsProvider;

/**
 * The DiSNI engine: RDMA devices of this machine, through the libdisni that the user has installed.
 * This class itself needs nothing of DiSNI.
 */
public final class DisniProvider implements VerbsProvider {
  static final String NAME = "disni";

  /** Used by the service loader. */
  public DisniProvider() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public int order() {
    // Only by name: ibverbs uses the same devices, needs less, and can withhold remote access.
    return -1;
  }

  @Override
  public VerbsEngine load(EngineSettings settings) throws EngineUnavailableException {
    validate(settings);
    Machine.check(DisniProvider.class.getClassLoader());
    return new DisniEngine(new SystemDevices(Path.of("/")));
  }
}
