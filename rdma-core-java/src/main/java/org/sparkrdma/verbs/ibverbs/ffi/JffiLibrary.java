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
public final class JffiLibrary {
  /** The reason why jffi cannot be used; null when it can. Found once for each class loader. */
  private static final String FAILURE = tryCalls();

  private JffiLibrary() {}

  /**
   * Called before all other methods and classes of this package.
   *
   * @throws EngineUnavailableException when jffi cannot be used, with the reason in a sentence
   */
  public static void check() throws EngineUnavailableException {
    if (FAILURE != null) {
      throw new EngineUnavailableException(FAILURE);
    }
  }

  private static String tryCalls() {
    try {
      if (!isLoaded()) {
        return whyNotLoaded(StubLoader.getFailureCause());
      }
      callAll();
      return null;
    } catch (UnsupportedOperationException e) {
      return "this JVM forbids access to memory by Unsafe: start it with"
          + " --sun-misc-unsafe-memory-access=allow, or with -Djffi.unsafe.disabled=true";
    } catch (LinkageError e) {
      return "jffi, which calls the RDMA libraries, cannot be used; another version of it may be on"
          + " the class path before ours, or ours is missing: "
          + e;
    }
  }

  /** Tries every kind of call and memory once, so that an unusable jffi shows here. */
  private static void callAll() {
    long function = Symbols.ofC().get("getpagesize");
    for (int i = 0; i <= SetUpCalls.MAX_ARGUMENTS; i++) {
      SetUpCalls.call(function, new long[i]);
    }
    Native.callThree(function, 0, 0, 0);
    Native.ppoll(function, 0, 0, 0);
    SetUpCalls.errno();
    try (NativeArena arena = new NativeArena()) {
      long at = arena.allocate(Long.BYTES);
      Native.putLong(at, Native.getLong(at));
    }
  }

  private static boolean isLoaded() {
    Thread thread = Thread.currentThread();
    ClassLoader context = thread.getContextClassLoader();
    // jffi looks for its library among the context's resources, and for its loading class there.
    thread.setContextClassLoader(JffiLibrary.class.getClassLoader());
    try {
      return StubLoader.isLoaded() && Invoker.getInstance() != null;
    } finally {
      thread.setContextClassLoader(context);
    }
  }

  private static String whyNotLoaded(Throwable cause) {
    // jffi keeps only the text of the exceptions with their stacks; the last one names the cause.
    String text = String.valueOf(cause);
    String reason = text.lines().filter(line -> line.matches("\\S.*")).reduce("", (a, b) -> b);
    if (text.contains("IllegalCallerException")) {
      return "this JVM forbids native access: start it with --enable-native-access=ALL-UNNAMED";
    }
    String folder = System.getProperty("jffi.extract.dir", System.getProperty("java.io.tmpdir"));
    return "jffi, which calls the RDMA libraries, cannot load its own library from the folder "
        + (folder + ": " + reason)
        + ". If the folder is full, not writable or mounted noexec, name another with"
        + " -Djffi.extract.dir=FOLDER in spark.executor.extraJavaOptions and"
        + " spark.driver.extraJavaOptions";
  }
}
