// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.sparkrdma.verbs.spi.EngineUnavailableException;

/** Finds out why the engine cannot run here, as one sentence. Loads no class of DiSNI. */
final class Machine {
  private static final String PROVIDER = "com.ibm.disni.verbs.RdmaProvider";
  private static final String VERSION = "2.1";
  private static final String ADDRESSES = "sun.nio.ch";

  private final Path root;

  /**
   * @param root of the file system; differs in tests only
   */
  Machine(Path root) {
    this.root = root;
  }

  /** Checks every requirement, with the classes that the loader finds. */
  void check(ClassLoader loader) throws EngineUnavailableException {
    checkPlatform();
    Class<?> provider = checkJar(loader);
    checkFlag(provider.getModule());
    checkLibrary(provider);
    checkDevices();
  }

  private static void checkPlatform() throws EngineUnavailableException {
    String system = System.getProperty("os.name");
    if (!system.equals("Linux")) {
      throw new EngineUnavailableException("needs Linux, this is " + system);
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

  static void checkLibrary(Class<?> provider) throws EngineUnavailableException {
    try {
      provider.getMethod("provider").invoke(null);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof IOException) {
        // DiSNI compares the version of its interface with that of the library.
        throw new EngineUnavailableException(
            "libdisni does not fit DiSNI's jar "
                + VERSION
                + ", install that of the same version: "
                + e.getCause().getMessage(),
            e.getCause());
      }
      throw new EngineUnavailableException(
          "libdisni cannot be loaded: "
              + root(e).getMessage()
              + "; install it and name its directory in java.library.path, for Spark in"
              + " spark.executor.extraLibraryPath",
          e.getCause());
    } catch (ReflectiveOperationException | LinkageError e) {
      throw new EngineUnavailableException("this is not DiSNI 2.1: " + e.getMessage(), e);
    }
  }

  /**
   * The cause of the load failure, also on a second attempt, where the class itself is reported as
   * broken.
   */
  private static Throwable root(Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root;
  }

  private void checkDevices() throws EngineUnavailableException {
    if (devices().names().isEmpty()) {
      throw new EngineUnavailableException(
          "the machine has no RDMA device: /sys/class/infiniband is empty");
    }
    Path node = root.resolve("dev/infiniband/rdma_cm");
    if (!Files.exists(node)) {
      throw new EngineUnavailableException(
          "there is no /dev/infiniband/rdma_cm: load the kernel module rdma_ucm, or give the"
              + " container --device=/dev/infiniband");
    }
    if (!Files.isReadable(node) || !Files.isWritable(node)) {
      throw new EngineUnavailableException(
          "no permission on /dev/infiniband/rdma_cm: user="
              + System.getProperty("user.name")
              + " must be allowed to read and write it");
    }
  }

  SystemDevices devices() {
    return new SystemDevices(root);
  }
}
