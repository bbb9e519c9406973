// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.nio.file.Path;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.NetworkLinks;
import org.sparkrdma.verbs.ibverbs.ffi.CmLibrary;
import org.sparkrdma.verbs.ibverbs.ffi.JffiLibrary;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;
import org.sparkrdma.verbs.spi.VerbsProvider;

/** The ibverbs engine: RDMA devices of this machine, through the system's libraries. */
public final class IbverbsProvider implements VerbsProvider {
  static final String NAME = "ibverbs";

  private static final int ORDER = 10;

  /** One for the process, as librdmacm is. */
  private static final DeviceProbe PROBE = new DeviceProbe();

  /** Used by the service loader. */
  public IbverbsProvider() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public int order() {
    return ORDER;
  }

  @Override
  public VerbsEngine load(EngineSettings settings) throws EngineUnavailableException {
    validate(settings);
    return load(new Machine(Path.of("/")), IbverbsProvider::libraries);
  }

  /** Loads the libraries, or says why they cannot be used. */
  @FunctionalInterface
  interface LibraryLoader {
    Libraries load() throws EngineUnavailableException;
  }

  /** Same as {@link #load(EngineSettings)}, on another machine and libraries in tests. */
  static VerbsEngine load(Machine machine, LibraryLoader libraries)
      throws EngineUnavailableException {
    machine.checkPlatform();
    // Checked first, so that a machine without devices needs no folder for jffi's library.
    machine.checkDevices();
    JffiLibrary.check();
    Libraries loaded = libraries.load();
    try {
      PROBE.check(loaded.verbs());
    } catch (VerbsException e) {
      throw new EngineUnavailableException(
          "an RDMA device does not answer, as while it is reset: " + e.getMessage(), e);
    }
    var engine = new IbverbsEngine(loaded, NetworkLinks.ofSystem(machine.root()));
    try {
      machine.checkReliable(engine.devices());
      return engine;
    } catch (VerbsException e) {
      engine.close();
      throw e instanceof EngineUnavailableException reason
          ? reason
          : new EngineUnavailableException(machine.whyNoDevice(e.getMessage()), e);
    }
  }

  private static Libraries libraries() throws EngineUnavailableException {
    try {
      return new Libraries(VerbsLibrary.load(), CmLibrary.load());
    } catch (IllegalArgumentException e) {
      throw new EngineUnavailableException(
          "libibverbs.so.1 or librdmacm.so.1 is not installed: run apt install libibverbs1"
              + " librdmacm1 ibverbs-providers, or dnf install libibverbs librdmacm",
          e);
    } catch (LinkageError e) {
      throw new EngineUnavailableException(
          "libibverbs.so.1 or librdmacm.so.1 cannot be used: " + e.getMessage(), e);
    }
  }
}
