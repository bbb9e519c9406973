// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios;

import java.util.concurrent.locks.LockSupport;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.soft.SoftProvider;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;
import org.sparkrdma.verbs.spi.VerbsProvider;

/**
 * The loopback engine, but the checks of an executor hang when they load it, as in a call of the
 * system that does not return: an interrupt does not end them. The first choice where its jar is on
 * the class path.
 */
public final class HungProvider implements VerbsProvider {
  private static final String CHECKS = "rdma-doctor";
  private static volatile boolean hung;

  private final SoftProvider soft = new SoftProvider();

  /** Used by the service loader. */
  public HungProvider() {}

  /** Whether the checks of this executor hang. */
  public static boolean isHung() {
    return hung;
  }

  @Override
  public String name() {
    return "hung";
  }

  @Override
  public int order() {
    return 0;
  }

  @Override
  public VerbsEngine load(EngineSettings settings) throws EngineUnavailableException {
    if (Thread.currentThread().getName().equals(CHECKS)) {
      hang();
    }
    return soft.load(settings);
  }

  private static void hang() {
    hung = true;
    while (hung) {
      // Forgets an interrupt, with which park would return at once.
      var unused = Thread.interrupted();
      LockSupport.park();
    }
  }
}
