// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import java.nio.file.Path;
import org.sparkrdma.verbs.engine.RdmaNodes;
import org.sparkrdma.verbs.spi.EngineUnavailableException;

/** Finds out why the engine cannot run here, as one sentence. Loads no class of DiSNI. */
final class Machine {
  private static final String PROVIDER = "com.ibm.disni.verbs.RdmaProvider";
  private static final String ADDRESSES = "sun.nio.ch";

  private Machine() {}

  /** Checks every requirement, with the classes that the loader finds. */
  static void check(ClassLoader loader) throws EngineUnavailableException {
    Class<?> provider = checkJar(loader);
    checkFlag(provider.getModule());
    checkLibrary(provider);
    String reason = RdmaNodes.whyUnusable(Path.of("/"));
    if (reason != null) {
      throw new EngineUnavailableException(reason);
    }
  }

  private static Class<?> checkJar(ClassLoader loader) throws EngineUnavailableException {
    try {
      return Class.forName(PROVIDER, false, loader);
    } catch (ClassNotFoundException | LinkageError e) {
      throw new EngineUnavailableException(
          "DiSNI's jar is not on the class path: put com.ibm.disni:disni:2.1 beside this jar, for"
              + " Spark into --jars",
          e);
    }
  }

  /** DiSNI reads the address of a buffer through a JDK package that must be opened. */
  static void checkFlag(Module disni) throws EngineUnavailableException {
    if (!Object.class.getModule().isExported(ADDRESSES, disni)) {
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
