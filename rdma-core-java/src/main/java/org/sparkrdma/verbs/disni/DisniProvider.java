// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import java.nio.file.Path;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.engine.NetworkLinks;
import org.sparkrdma.verbs.engine.RdmaNodes;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;
import org.sparkrdma.verbs.spi.VerbsProvider;

/**
 * The DiSNI engine: RDMA devices of this machine, through the libdisni that the user has installed.
 * This class itself needs nothing of DiSNI: it finds out why the engine cannot run here.
 */
public final class DisniProvider implements VerbsProvider {
  static final String NAME = "disni";

  private static final Path ROOT = Path.of("/");

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
    Class<?> provider = loadJar();
    checkFlag(provider.getModule());
    checkLibrary(provider);
    String reason = RdmaNodes.whyUnusable(ROOT);
    if (reason != null) {
      throw new EngineUnavailableException(reason);
    }
    return new DisniEngine(NetworkLinks.ofSystem(ROOT));
  }

  private static Class<?> loadJar() throws EngineUnavailableException {
    try {
      return Class.forName(
          "com.ibm.disni.verbs.RdmaProvider", false, DisniProvider.class.getClassLoader());
    } catch (ClassNotFoundException | LinkageError e) {
      throw new EngineUnavailableException(
          "DiSNI's jar is not on the class path: put com.ibm.disni:disni:2.1 beside this jar, for"
              + " Spark into --jars",
          e);
    }
  }

  /** DiSNI reads the address of a buffer through a JDK package that must be opened. */
  static void checkFlag(Module disni) throws EngineUnavailableException {
    if (!Object.class.getModule().isExported("sun.nio.ch", disni)) {
      throw new EngineUnavailableException(
          "DiSNI may not take the addresses of buffers: start the JVM with"
              + " --add-opens=java.base/sun.nio.ch=ALL-UNNAMED");
    }
  }

  /**
   * DiSNI loads its library, and compares the version of its interface with that of the library.
   */
  static void checkLibrary(Class<?> provider) throws EngineUnavailableException {
    try {
      provider.getMethod("provider").invoke(null);
    } catch (ReflectiveOperationException | LinkageError e) {
      // Of a second attempt too, where the class itself is reported as broken.
      Throwable root = e;
      while (root.getCause() != null) {
        root = root.getCause();
      }
      throw new EngineUnavailableException(
          "libdisni of DiSNI 2.1 cannot be loaded: "
              + root.getMessage()
              + "; install it and name its directory in java.library.path, for Spark in"
              + " spark.executor.extraLibraryPath",
          root);
    }
  }
}
