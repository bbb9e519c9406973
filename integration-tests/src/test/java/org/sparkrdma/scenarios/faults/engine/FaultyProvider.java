// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.soft.SoftProvider;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;
import org.sparkrdma.verbs.spi.VerbsProvider;

/** The loopback engine with faults; the first choice where its jar is on the class path. */
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
    return new FaultyEngine(soft.load(settings));
  }
}
