// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.soft.shared.HostIdentity;
import org.sparkrdma.verbs.spi.EngineSetting;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;
import org.sparkrdma.verbs.spi.VerbsProvider;

/**
 * The soft engine: a loopback RDMA device in pure Java, on Linux. For tests, demos and machines
 * without RDMA; used only by name.
 */
public final class SoftProvider implements VerbsProvider {
  static final String NAME = "soft";

  /** Used by the service loader. */
  public SoftProvider() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public int order() {
    return -1;
  }

  @Override
  public List<EngineSetting> settings() {
    return SoftSettings.ALL;
  }

  @Override
  public void validate(EngineSettings settings) {
    SoftSettings.of(settings);
  }

  @Override
  public VerbsEngine load(EngineSettings settings) throws EngineUnavailableException {
    return load(settings, true);
  }

  /**
   * Loads an engine whose READs complete as usual but move no bytes: the sink keeps what it had.
   * For benchmarks of the engine's users, as an infinitely fast device. No setting and no provider
   * of this jar leads here, so that no job can get wrong bytes by it.
   */
  public static VerbsEngine loadWithoutCopy(EngineSettings settings)
      throws EngineUnavailableException {
    return load(settings, false);
  }

  private static VerbsEngine load(EngineSettings settings, boolean copiesReads)
      throws EngineUnavailableException {
    SoftSettings checked = SoftSettings.of(settings);
    if (!Files.isDirectory(checked.directory()) || !Files.isWritable(checked.directory())) {
      throw new EngineUnavailableException(
          "the soft engine needs a directory for shared memory; set soft.directory: path="
              + checked.directory());
    }
    try {
      return new SoftEngine(checked, HostIdentity.self(), copiesReads);
    } catch (IOException | RuntimeException e) {
      throw new EngineUnavailableException("the soft engine cannot read /proc: " + e, e);
    }
  }
}
