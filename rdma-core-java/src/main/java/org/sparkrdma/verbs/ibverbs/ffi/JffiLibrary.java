// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import com.kenai.jffi.Invoker;
import com.kenai.jffi.internal.StubLoader;
import org.sparkrdma.verbs.spi.EngineUnavailableException;

/**
 * Loads jffi's own library, {@code libjffi-1.2.so}, which jffi extracts from a jar into a temporary
 * folder.
 *
 * <p>A native method finds only libraries that its class's own class loader has loaded. jffi looks
 * for its loading class in the system's class loader first and in the thread's context class loader
 * next; where one of them has another jffi, that one loads its library too. So this class calls the
 * loading class of our class loader first.
 */
final class JffiLibrary {
  private JffiLibrary() {}

  /**
   * Loads it once for each class loader and opens the binding over it.
   *
   * @throws EngineUnavailableException when jffi cannot be used, with the reason in a sentence
   */
  static ForeignBinding open() throws EngineUnavailableException {
    try {
      load();
      return JffiBinding.open();
    } catch (LinkageError e) {
      throw unusable(e);
    }
  }

  private static void load() throws EngineUnavailableException {
    Thread thread = Thread.currentThread();
    ClassLoader context = thread.getContextClassLoader();
    // jffi looks for its library among the context's resources, and for its loading class there.
    thread.setContextClassLoader(JffiLibrary.class.getClassLoader());
    try {
      if (!StubLoader.isLoaded()) {
        throw notExtracted(StubLoader.getFailureCause());
      }
      Invoker.getInstance();
    } finally {
      thread.setContextClassLoader(context);
    }
  }

  private static EngineUnavailableException notExtracted(Throwable cause) {
    String folder = System.getProperty("jffi.extract.dir", System.getProperty("java.io.tmpdir"));
    return new EngineUnavailableException(
        "jffi, which calls the RDMA libraries on Java "
            + Runtime.version().feature()
            + ", cannot load its own library from the folder "
            + folder
            + ", which must be writable and not mounted noexec: name another with"
            + " -Djffi.extract.dir=FOLDER in spark.executor.extraJavaOptions and"
            + " spark.driver.extraJavaOptions",
        cause);
  }

  /** The reason why a loaded jffi cannot be used: it is a different version. */
  private static EngineUnavailableException unusable(LinkageError cause) {
    return new EngineUnavailableException(
        "jffi, which calls the RDMA libraries on Java "
            + Runtime.version().feature()
            + ", cannot be used; another version of it may be on the class path before ours, or"
            + " ours is missing: "
            + cause,
        cause);
  }
}
